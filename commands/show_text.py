"""A conversation as lines to read: a header, messages with their calls below them, turns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import orjson
from rich.text import Text

from agentjournal.codec_form import has_long_digits
from agentjournal.events import ModelCalled, TurnEnded, TurnStarted
from agentjournal.events.wire import wire_form
from agentjournal.ids import parse_stream
from agentjournal.tool_calls import ToolCall
from commands.cutting import cut, missing_line
from commands.harmless import one_line
from commands.lines import Line, block, line
from commands.previews import output_text, part_text, preview, written_output
from commands.times import date_and_clock, lasting, zone
from commands.transcript import Began, CallTimes, Entry, Happened, Said, Transcript

_BODY, _CALL, _DETAIL = 2, 4, 6  # indents
_MOST_PREVIEW = 200
_SHORT_ARGUMENTS = 60  # characters that go on one line

_ROLES = {"user": "bold cyan", "assistant": "bold green"}
_OUTCOMES = {"open": "yellow", "completed": "green", "failed": "red"}


def transcript_lines(shown: Transcript, *, last_version: int, full: bool) -> Iterator[Line]:
    """Yield the lines of a conversation whose session is at `last_version` now.

    Long arguments and outputs are cut to head and tail unless `full`.
    """
    yield from _header(shown, last_version)
    day = ""
    for entry in shown.entries:
        if isinstance(entry, Happened) and _stands_with_its_message(entry, shown):
            continue
        at = _moment(entry, shown)
        shown_at = date_and_clock(at)
        clock = shown_at if shown_at[:10] != day else shown_at[11:]
        day = shown_at[:10]
        match entry:
            case Said():
                yield from _message(entry, clock, shown, full=full)
            case Began(call_id):
                yield line("")
                yield line(("call", "bold"), (f"  {clock}", "dim"))
                yield from _call(shown, call_id, full=full)
            case Happened():
                yield from _happened(entry, clock)


def _header(shown: Transcript, last_version: int) -> Iterator[Line]:
    state = shown.state
    _, tenant, session_id = parse_stream(state.stream)
    title = f"  {one_line(state.title)}" if state.title else ""
    yield line(("session ", "bold"), (session_id, "bold cyan"), (title, "bold"))
    version = f"version {state.version}"
    if state.version != last_version:
        version += f" of {last_version}"
    names = {"tenant": tenant, "user": state.user, "agent": state.agent}
    known = [f"{name} {one_line(value)}" for name, value in names.items() if value]
    yield line(" · ".join((*known, state.status, version)), indent=_BODY)
    began, last = date_and_clock(shown.started_at), date_and_clock(shown.last_at)
    yield line(f"started {began} · last event {last} ({zone(shown.last_at)})", indent=_BODY)
    spent = [f"{amount:f} {currency}" for currency, amount in sorted(shown.costs.items())]
    words = [
        f"tokens {shown.input_tokens:,} in, {shown.output_tokens:,} out",
        f"cost {' + '.join(spent) or '-'}",
        f"open calls {len(state.open_calls)}",
    ]
    yield line(" · ".join(words), indent=_BODY)


def _moment(entry: Entry, shown: Transcript) -> str:
    match entry:
        case Said(message):
            return message.recorded_at
        case Happened(_, recorded):
            return recorded.recorded_at
        case Began(call_id):
            times = shown.times.get(call_id)
            return (times.started_at if times else None) or shown.last_at


def _message(entry: Said, clock: str, shown: Transcript, *, full: bool) -> Iterator[Line]:
    message = entry.message
    yield line("")
    marks = [message.name] if message.name else []
    marks += ["incomplete"] if message.status == "incomplete" else []
    marks += ["retracted"] if message.message_id in shown.retracted else []
    mark = "".join(f" ({one_line(each)})" for each in marks)
    role = (message.role, _ROLES.get(message.role, "bold magenta"))
    yield line(role, mark, (f"  {clock}", "dim"))
    if (called := shown.model_calls.get(message.model_call_id or "")) is not None:
        yield _model(called)
    for part in message.parts:
        fields = wire_form(part)
        if part.type == "tool_call":
            continue
        if part.type == "reasoning":
            text = f"(thinking) {part_text(fields)}"
            yield from _long(text, full=full, indent=_BODY, style="dim italic")
        else:
            style = "" if part.type == "text" else "dim"
            yield from block(part_text(fields), indent=_BODY, style=style)
    for call_id in entry.call_ids:
        yield from _call(shown, call_id, full=full)


def _call(shown: Transcript, call_id: str, *, full: bool) -> Iterator[Line]:
    call, times = shown.state.calls[call_id], shown.times.get(call_id, CallTimes())
    facts = _facts(call, times)
    name = one_line(call.tool) or "(a call that nobody began)"
    yield line(
        ("→ ", "dim"),
        (name, "bold"),
        f" {one_line(call_id)}  ",
        (call.outcome, _OUTCOMES[call.outcome]),
        (f"  {'  '.join(facts)}" if facts else "", "dim"),
        indent=_CALL,
    )
    if call.arguments_text:
        yield from _long(pretty(call.arguments_text), full=full, indent=_DETAIL, style="dim")
    if call.error is not None:
        error = f"{call.error.type}: {call.error.message}"
        yield from _long(error, full=full, indent=_DETAIL, style="red")
    if call.output:
        text = output_text(written_output(call.output))
        yield from _output(_long(text, full=full, indent=_DETAIL + 2, style=""))


def _output(lines: Iterator[Line]) -> Iterator[Line]:
    """Mark the first line, so that an output is told from arguments without colours too."""
    first = next(lines)
    yield Line(Text.assemble(("← ", "dim"), first.text), _DETAIL)
    yield from lines


def _facts(call: ToolCall, times: CallTimes) -> list[str]:
    facts = [f"attempt {call.attempt}"] if call.attempt > 1 else []
    if times.duration_ms is not None:
        facts.append(lasting(times.duration_ms))
    if call.outcome == "open":
        until = _lease_end(times)
        facts.append("not started" if call.attempt == 0 else f"lease until {until}")
    return facts


def _lease_end(times: CallTimes) -> str:
    if times.started_at is None or times.lease_s is None:
        return "?"
    try:
        end = datetime.fromisoformat(times.started_at) + timedelta(seconds=times.lease_s)
    except OverflowError:  # beyond the year 9999
        return "for ever"
    return date_and_clock(end)


def pretty(arguments_text: str) -> str:
    """Return the arguments on one line when they are short, else indented; no JSON: as they are."""
    text = arguments_text.strip()
    if len(text) <= _SHORT_ARGUMENTS and "\n" not in text:
        return text
    try:
        raw = text.encode()
        if has_long_digits(raw):  # parsed, it would be another number
            return text
        return orjson.dumps(orjson.loads(raw), option=orjson.OPT_INDENT_2).decode()
    except (TypeError, ValueError):
        return text


def _long(text: str, *, full: bool, indent: int, style: str) -> Iterator[Line]:
    if full:
        yield from block(text.removesuffix("\n"), indent=indent, style=style)
        return
    parts = cut(text)
    yield from block(parts.head.removesuffix("\n"), indent=indent, style=style)
    if parts.missing_characters:
        yield line((missing_line(parts), "dim italic"), indent=indent)
        yield from block(parts.tail.removesuffix("\n"), indent=indent, style=style)


def _happened(entry: Happened, clock: str) -> Iterator[Line]:
    match entry.event:
        case TurnStarted(trigger=trigger):
            yield line("")
            yield line((f"── turn · {trigger} · {clock} ", "dim"), rule=True)
        case TurnEnded() as event:
            yield line("")
            error = f" · {one_line(event.error.message, _MOST_PREVIEW)}" if event.error else ""
            resume = f" · goes on {one_line(event.resume_at)}" if event.resume_at else ""
            words = f"── turn {event.reason}{error}{resume} · {clock} "
            yield line((words, "dim"), rule=True)
        case ModelCalled() as event:
            yield _model(event)
        case event:
            words = preview(event.type, entry.recorded.data, _MOST_PREVIEW)
            yield line((f"· {event.type}  {words}", "dim"), indent=_BODY)


def _model(event: ModelCalled) -> Line:
    cached = event.cache_read_input_tokens
    words = [
        one_line(event.response_model or event.request_model),
        f"{event.input_tokens:,} in" + (f" ({cached:,} cached)" if cached else ""),
        f"{event.output_tokens:,} out",
    ]
    if event.cost is not None:
        words.append(f"{event.cost.amount} {event.cost.currency}")
    words.append(lasting(event.duration_ms))
    if event.status != "completed":
        error = f": {event.error.message}" if event.error else ""
        words.append(one_line(f"{event.status}{error}", _MOST_PREVIEW))
    return line((f"model {' · '.join(words)}", "dim"), indent=_BODY)


def _stands_with_its_message(entry: Happened, shown: Transcript) -> bool:
    event = entry.event
    return isinstance(event, ModelCalled) and event.model_call_id in shown.answered_calls
