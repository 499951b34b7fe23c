"""From the events of a session to statements: what somebody said, called a tool with, or got back.

No statement comes from notes, plans, progress, reasoning, media, or what memory showed; none from a
message that was retracted or rewound. What a tool did stays done when the conversation is rewound.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import singledispatchmethod
from typing import Any, Literal, NamedTuple

import orjson

from agentjournal.envelope import Recorded
from agentjournal.events import (
    ConversationRewound,
    Event,
    MessageAdded,
    MessageRetracted,
    SessionStarted,
    TextPart,
    ToolCompleted,
    ToolFailed,
    ToolSettled,
    ToolStarted,
)
from agentjournal.events.parts import Output
from agentjournal.handoffs import TASK_MESSAGE
from agentjournal.ids import Version, parse_stream
from agentjournal.memory.candidates import Statement

MAX_TOOL_TEXT = 8_000  # characters: what names the thing that was dealt with stands at the top
MAX_VALUES = 200  # of an object at its top level
MAX_MESSAGE = 60_000  # beyond it, text was pasted
_SAYING = ("message.", "tool.", "conversation.rewound", "session.started")
_IMPORTER = "import"  # the last part of the source that importers write


class Gone(NamedTuple):
    """A message that no longer says anything, by its event, and the event that took it away."""

    event_id: str
    by_event_id: str
    version: Version  # of the event that took it away
    at: str  # when that was recorded
    reason: str


def statements_of(events: Iterable[Recorded]) -> list[Statement]:
    """Return the statements of a session, in the order of its events.

    Raises EventUnreadable.
    """
    reader = StatementReader()
    for recorded in events:
        reader.add(recorded)
    return reader.statements()


@dataclass(slots=True)
class _Kept:
    statement: Statement
    message_id: str | None = None
    counts: bool = True
    gone: Gone | None = None

    def go(self, recorded: Recorded, reason: str) -> None:
        """Count no longer, because of an event."""
        if self.counts:
            by = recorded.id, Version(recorded.version), recorded.recorded_at
            self.gone = Gone(self.statement.event_id, *by, reason)
        self.counts = False


class StatementReader:
    """Takes the events of one session in their order; keeps only what may say something."""

    def __init__(self) -> None:
        self._kept: list[_Kept] = []
        self._messages: dict[str, list[_Kept]] = {}
        self._calls: dict[str, _Kept] = {}  # the latest of each call id
        self._is_handed = False  # begun by another agent, who wrote the first message

    def statements(self) -> list[Statement]:
        """Return what was said so far and still counts."""
        return [each.statement for each in self._kept if each.counts]

    def gone(self) -> list[Gone]:
        """Return the messages that were said and no longer count."""
        return [each.gone for each in self._kept if each.gone is not None]

    def add(self, recorded: Recorded) -> None:
        """Take the next event. Raises EventUnreadable."""
        if recorded.type.startswith(_SAYING):
            self._take(recorded.event, recorded)

    @singledispatchmethod
    def _take(self, event: Event, recorded: Recorded) -> None:
        """Keep nothing of other events."""

    @_take.register
    def _(self, event: SessionStarted, _recorded: Recorded) -> None:
        self._is_handed = event.parent is not None and event.parent.relation == "handoff"

    @_take.register
    def _(self, event: MessageAdded, recorded: Recorded) -> None:
        if text := event.text[:MAX_MESSAGE]:
            # What an agent hands over is its words, though the other one is told as by a user.
            is_task = self._is_handed and event.message_id.startswith(TASK_MESSAGE)
            role = "assistant" if is_task else event.role
            said = _statement(recorded, text, role=role, source="message", is_task=is_task)
            self._kept.append(kept := _Kept(said, event.message_id))
            self._messages.setdefault(event.message_id, []).append(kept)
        for call in event.tool_calls:
            self._begin(recorded, call.call_id, call.name, call.arguments_text)

    @_take.register
    def _(self, event: MessageRetracted, recorded: Recorded) -> None:
        for kept in self._messages.get(event.message_id, ()):
            kept.go(recorded, "the message was retracted")

    @_take.register
    def _(self, event: ConversationRewound, recorded: Recorded) -> None:
        for kept in reversed(self._kept):
            if kept.statement.version <= event.to_version:
                break
            if kept.message_id is not None:
                kept.go(recorded, "the conversation was rewound")

    @_take.register
    def _(self, event: ToolStarted, recorded: Recorded) -> None:
        asked = self._calls.get(event.call_id)
        if asked is not None and asked.statement.outcome == "open":
            asked.counts = False
        self._begin(recorded, event.call_id, event.tool, event.arguments_text)
        call = self._calls[event.call_id]
        call.statement = replace(call.statement, effect=event.effect)

    @_take.register
    def _(self, event: ToolCompleted, recorded: Recorded) -> None:
        # A result that was taken from an earlier call is nothing that happened again.
        if event.cached_from is None:
            self._end(recorded, event.call_id, "completed", event.output, event.result)

    @_take.register
    def _(self, event: ToolFailed, recorded: Recorded) -> None:
        self._end(recorded, event.call_id, "failed", event.output or event.error.message)

    @_take.register
    def _(self, event: ToolSettled, recorded: Recorded) -> None:
        self._end(recorded, event.call_id, event.outcome, event.output or "")

    def _begin(self, recorded: Recorded, call_id: str, tool: str, arguments: str) -> None:
        said = _statement(
            recorded,
            arguments[:MAX_TOOL_TEXT],
            role="assistant",
            source="arguments",
            tool=tool,
            call_id=call_id,
            outcome="open",
            value=_shallow(_parsed(arguments)),
        )
        self._calls[call_id] = kept = _Kept(said)
        self._kept.append(kept)

    def _end(
        self,
        recorded: Recorded,
        call_id: str,
        outcome: Literal["completed", "failed"],
        output: Output,
        result: Any = None,
    ) -> None:
        call = self._calls.get(call_id)
        if call is None or call.statement.outcome != "open":
            return  # of a call the first outcome counts
        call.statement = replace(call.statement, outcome=outcome)
        text = output_text(output)
        said = _statement(
            recorded,
            text[:MAX_TOOL_TEXT],
            role="tool",
            source="result",
            tool=call.statement.tool,
            call_id=call_id,
            effect=call.statement.effect,
            outcome=outcome,
            value=_shallow(_parsed(text) if result is None else result),
        )
        self._kept.append(_Kept(said))


def _statement(recorded: Recorded, text: str, **what: Any) -> Statement:
    return Statement(
        session_id=parse_stream(recorded.stream)[2],
        event_id=recorded.id,
        version=Version(recorded.version),
        at=said_at(recorded),
        text=text,
        **what,
    )


def said_at(recorded: Recorded) -> str:
    """Return when it was said, ISO 8601: what was imported was said before it was recorded."""
    is_imported = recorded.source.rpartition("/")[2] == _IMPORTER
    return recorded.time if is_imported and recorded.time else recorded.recorded_at


def output_text(output: Output) -> str:
    """Return the text of what a tool gave back, without media."""
    if isinstance(output, str):
        return output
    return "\n".join(part.text for part in output if isinstance(part, TextPart))


def _parsed(text: str) -> Any:
    """Return what a JSON text says; None: it is none."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return orjson.loads(text)
    except ValueError:
        return None


def _shallow(value: Any) -> Any:
    """Return an object's plain values, and those of an object that is alone in it."""
    if not isinstance(value, dict):
        return None
    if len(value) == 1 and isinstance(inner := next(iter(value.values())), dict):
        value = inner
    plain = {key: each for key, each in value.items() if not isinstance(each, dict | list)}
    return dict(list(plain.items())[:MAX_VALUES])
