"""The state of a session: a pure fold over its events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from agentjournal.codec import decode
from agentjournal.envelope import NO_HASH, Recorded
from agentjournal.events import (
    ConversationCompacted,
    ConversationRewound,
    Event,
    MessageAdded,
    MessageRetracted,
    SessionDeleted,
    SessionEnded,
    SessionExpired,
    SessionResumed,
    SessionStarted,
    SessionUpdated,
    TextPart,
    ToolCallPart,
    ToolCompleted,
    ToolFailed,
    ToolFailure,
    ToolSettled,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from agentjournal.ids import StreamId, Version
from agentjournal.summary import Summary

CallOutcome: TypeAlias = Literal["open", "completed", "failed"]


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the conversation, at its version."""

    message_id: str
    role: str
    parts: Sequence[Any]  # the parts of agentjournal.events
    version: Version
    recorded_at: str  # ISO 8601, the broker's clock
    turn_id: str | None = None
    name: str | None = None
    model_call_id: str | None = None
    status: str = "complete"  # or incomplete, retracted, rewound
    tokens: int | None = None

    @property
    def text(self) -> str:
        """The text parts, a line break between two of them."""
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def tool_calls(self) -> list[ToolCallPart]:
        """The tools that the model asks for, in its order."""
        return [part for part in self.parts if isinstance(part, ToolCallPart)]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call, from the model's request or a worker's start to its outcome."""

    call_id: str
    tool: str
    arguments_text: str  # the model's argument string, byte for byte
    version: Version  # of the event that first named it
    outcome: CallOutcome = "open"
    attempt: int = 0  # 0: asked for, not started
    effect: str | None = None
    idempotency_key: str | None = None
    output: str | Sequence[Any] | None = None  # text, or parts
    result: Any = None
    error: ToolFailure | None = None
    started_version: Version | None = None
    ended_version: Version | None = None

    @property
    def arguments(self) -> Any:
        """The parsed arguments. Raises ValueError when the model wrote no JSON."""
        return decode(self.arguments_text.encode())


@dataclass(frozen=True, slots=True)
class Compaction:
    """A stretch of the conversation that is shown as a summary; the log keeps all of it."""

    first_version: int
    last_version: int
    summary: str
    carried: Sequence[tuple[str, Any]]  # (kind, value), word for word
    version: Version


@dataclass(slots=True)
class SessionState:
    """What a session has come to at `version`."""

    stream: StreamId
    version: Version = Version(0)
    hash: str = NO_HASH
    user: str | None = None
    agent: str | None = None
    title: str | None = None
    status: str = "open"  # or ended, expired, deleted
    messages: list[Message] = field(default_factory=list[Message])
    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    compactions: list[Compaction] = field(default_factory=list[Compaction])
    turn_id: str | None = None  # of the turn that is open
    summary: Summary = field(default_factory=Summary, compare=False)  # what it was folded from

    @property
    def open_calls(self) -> list[ToolCall]:
        """Calls that were asked for or started, and have no outcome."""
        return [call for call in self.calls.values() if call.outcome == "open"]

    def apply(self, recorded: Recorded) -> None:
        """Take the next event of the session."""
        event = recorded.event
        self._apply(event, recorded)
        self.summary.count(recorded, event)
        self.version, self.hash = recorded.version, recorded.hash

    def _apply(self, event: Event, recorded: Recorded) -> None:  # noqa: C901 - a case a type
        match event:
            case MessageAdded():
                self._message(event, recorded)
            case ToolStarted() | ToolCompleted() | ToolFailed() | ToolSettled():
                self._call(event, recorded.version)
            case MessageRetracted(message_id=message_id):
                self.messages = [
                    replace(m, status="retracted") if m.message_id == message_id else m
                    for m in self.messages
                ]
            case ConversationRewound():
                self._rewind(event.to_version)
            case ConversationCompacted():
                self.compactions.append(_compaction(event, recorded.version))
            case TurnStarted(turn_id=turn_id):
                self.turn_id = turn_id
            case TurnEnded(turn_id=turn_id):
                self.turn_id = None if self.turn_id == turn_id else self.turn_id
            case SessionStarted():
                self.user, self.agent, self.title = event.user, event.agent, event.title
            case SessionUpdated(title=title):
                self.title = title if title is not None else self.title
            case SessionEnded() | SessionExpired() | SessionDeleted() | SessionResumed():
                self.status = _STATUS[type(event)]
            case _:
                pass  # a type that is no part of the conversation

    def with_compaction(self, event: ConversationCompacted) -> SessionState:
        """Return the state that this one comes to when the event is the next."""
        after = replace(self, compactions=list(self.compactions))
        after.compactions.append(_compaction(event, Version(self.version + 1)))
        return after

    def _rewind(self, to_version: int) -> None:
        self.messages = [
            message if message.version <= to_version else replace(message, status="rewound")
            for message in self.messages
        ]
        self.compactions = [c for c in self.compactions if c.last_version <= to_version]

    def _message(self, event: MessageAdded, recorded: Recorded) -> None:
        message = Message(
            event.message_id,
            event.role,
            event.parts,
            recorded.version,
            recorded.recorded_at,
            self.turn_id,
            event.name,
            event.model_call_id,
            event.status,
            recorded.tokens,
        )
        self.messages.append(message)
        for part in event.tool_calls:
            call = ToolCall(part.call_id, part.name, part.arguments_text, recorded.version)
            self.calls.setdefault(part.call_id, call)

    def _call(
        self, event: ToolStarted | ToolCompleted | ToolFailed | ToolSettled, version: Version
    ) -> None:
        held = self.calls.get(event.call_id) or ToolCall(event.call_id, "", "", version)
        match event:
            case ToolStarted():
                if event.attempt > held.attempt:
                    self.calls[event.call_id] = ToolCall(
                        event.call_id,
                        event.tool,
                        event.arguments_text,
                        held.version,
                        "open",
                        event.attempt,
                        event.effect,
                        event.idempotency_key,
                        started_version=version,
                    )
            case ToolSettled():
                self._settle(held, event.outcome, event, version)
            case ToolCompleted(attempt=attempt) | ToolFailed(attempt=attempt):
                outcome: CallOutcome = "completed" if isinstance(event, ToolCompleted) else "failed"
                if attempt >= held.attempt:
                    self._settle(replace(held, attempt=attempt), outcome, event, version)

    def _settle(
        self,
        held: ToolCall,
        outcome: CallOutcome,
        event: ToolCompleted | ToolFailed | ToolSettled,
        version: Version,
    ) -> None:
        """The first outcome of an attempt counts; a later one changes nothing."""
        before = self.calls.get(held.call_id)
        if before is not None and before.outcome != "open" and before.attempt == held.attempt:
            return
        self.calls[held.call_id] = replace(
            held,
            outcome=outcome,
            output=event.output,
            result=event.result if isinstance(event, ToolCompleted) else None,
            error=None if isinstance(event, ToolCompleted) else event.error,
            ended_version=version,
        )


def _compaction(event: ConversationCompacted, version: Version) -> Compaction:
    carried = [(each.kind, each.value) for each in event.carried]
    return Compaction(event.first_version, event.last_version, event.summary, carried, version)


_STATUS: Mapping[type[Event], str] = {
    SessionEnded: "ended",
    SessionExpired: "expired",
    SessionDeleted: "deleted",
    SessionResumed: "open",
}
