"""What changed in a session, as lines to read and as one JSON object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from agentjournal.events.wire import wire_form
from agentjournal.ids import parse_stream
from agentjournal.state import Compaction, Message
from agentjournal.tool_calls import ToolCall
from commands.differences import Changes, Differences
from commands.harmless import one_line
from commands.lines import Line, line
from commands.previews import output_text, part_text, written_output

T = TypeVar("T")

_MOST = 200  # characters of a message or an output
_ADDED, _CHANGED, _REMOVED = ("+ ", "green"), ("~ ", "yellow"), ("- ", "red")
_NAMES = {"turn_id": "turn"}


def differences_lines(found: Differences) -> Iterator[Line]:
    """Yield a header, and a line for each thing that came (+), changed (~) or went (-)."""
    _, _, session_id = parse_stream(found.after.stream)
    versions = f"version {found.before.version} → {found.after.version}"
    yield line(("session ", "bold"), (session_id, "bold cyan"), f"  {versions}")
    if not found:
        yield line("nothing changed", indent=2)
        return
    for name, pair in found.fields.items():
        words = f"{_NAMES.get(name, name)}  {_value(pair.before)} → {_value(pair.after)}"
        yield line(_CHANGED, words, indent=2)
    yield from _part("messages", found.messages, _message, _message_change)
    yield from _part("tool calls", found.calls, _call, _call_change)
    yield from _part("compactions", found.compactions, _compaction, _compaction_change)
    counts = ", ".join(f"{count} {one_line(kind)}" for kind, count in found.events.items())
    yield line((f"events  {counts}", "dim"))


def _part(
    name: str,
    changes: Changes[T],
    words: Callable[[T], str],
    change: Callable[[T, T], str],
) -> Iterator[Line]:
    if changes:
        yield line((name, "bold"))
    for each in changes.added:
        yield line(_ADDED, words(each), indent=2)
    for pair in changes.changed:
        yield line(_CHANGED, change(pair.before, pair.after), indent=2)
    for each in changes.removed:
        yield line(_REMOVED, words(each), indent=2)


def _message(message: Message) -> str:
    text = " ".join(part_text(wire_form(part)) for part in message.parts)
    return f"{message.version}  {message.role}  {_status(message)}{one_line(text, _MOST)}"


def _status(message: Message) -> str:
    return "" if message.status == "complete" else f"({message.status}) "


def _message_change(before: Message, after: Message) -> str:
    return f"{after.version}  {after.role}  {before.status} → {after.status}"


def _call(call: ToolCall) -> str:
    return f"{_call_name(call)}  {call.outcome}{_call_end(call)}"


def _call_change(before: ToolCall, after: ToolCall) -> str:
    words = f"{_call_name(after)}  {_outcome(before)} → {_outcome(after)}"
    return words if before.outcome == after.outcome else words + _call_end(after)


def _call_name(call: ToolCall) -> str:
    return f"{one_line(call.call_id)}  {one_line(call.tool) or '(a call that nobody began)'}"


def _outcome(call: ToolCall) -> str:
    begun = f"attempt {call.attempt}" if call.attempt else "not started"
    return f"{call.outcome} ({begun})"


def _call_end(call: ToolCall) -> str:
    if call.error is not None:
        return "  " + one_line(f"{call.error.type}: {call.error.message}", _MOST)
    text = one_line(output_text(written_output(call.output)), _MOST)
    return f"  {text}" if text else ""


def _compaction(compaction: Compaction) -> str:
    versions = f"{compaction.first_version} to {compaction.last_version}"
    return f"{compaction.version}  for versions {versions}  {one_line(compaction.summary, _MOST)}"


def _compaction_change(_: Compaction, after: Compaction) -> str:
    return _compaction(after)


def _value(value: Any) -> str:
    return "-" if value is None else one_line(str(value), _MOST)


def differences_object(found: Differences) -> dict[str, Any]:
    """Return what changed, every value as it was recorded."""
    _, tenant, session_id = parse_stream(found.after.stream)
    return {
        "stream": found.after.stream,
        "tenant": tenant,
        "session_id": session_id,
        "from_version": found.before.version,
        "to_version": found.after.version,
        "fields": {
            name: {"before": pair.before, "after": pair.after}
            for name, pair in found.fields.items()
        },
        "messages": _changes(found.messages, _message_object),
        "tool_calls": _changes(found.calls, _call_object),
        "compactions": _changes(found.compactions, _compaction_object),
        "events": found.events,
    }


def _changes(changes: Changes[T], form: Callable[[T], dict[str, Any]]) -> dict[str, Any]:
    return {
        "added": [form(each) for each in changes.added],
        "changed": [
            {"before": form(pair.before), "after": form(pair.after)} for pair in changes.changed
        ],
        "removed": [form(each) for each in changes.removed],
    }


def _message_object(message: Message) -> dict[str, Any]:
    return {
        "version": message.version,
        "message_id": message.message_id,
        "role": message.role,
        "name": message.name,
        "text": message.text,
        "parts": [wire_form(part) for part in message.parts],
        "status": message.status,
    }


def _call_object(call: ToolCall) -> dict[str, Any]:
    return {
        "version": call.version,
        "call_id": call.call_id,
        "tool": call.tool,
        "arguments_text": call.arguments_text,
        "outcome": call.outcome,
        "attempt": call.attempt,
        "output": written_output(call.output),
        "result": call.result,
        "error": None if call.error is None else wire_form(call.error),
    }


def _compaction_object(compaction: Compaction) -> dict[str, Any]:
    return {
        "version": compaction.version,
        "first_version": compaction.first_version,
        "last_version": compaction.last_version,
        "summary": compaction.summary,
        "carried": [{"kind": kind, "value": value} for kind, value in compaction.carried],
    }
