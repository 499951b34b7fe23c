"""The state of a session: a pure fold over its events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, TypeAlias

from agentjournal.codec import decode
from agentjournal.envelope import NO_HASH
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
from agentjournal.stored import Foldable
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
        return "\n".join(part.text for part in self.parts if type(part) is TextPart)

    @property
    def tool_calls(self) -> list[ToolCallPart]:
        """The tools that the model asks for, in its order."""
        return [part for part in self.parts if type(part) is ToolCallPart]


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
    def is_inherited(self) -> bool:
        """Whether all that is known of it is from before a fork: it is the parent's to finish."""
        return self.version <= 0 and (self.started_version or 0) <= 0

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
        """Calls that were asked for or started, and have no outcome; a fork's parent's are not."""
        calls = self.calls.values()
        return [call for call in calls if call.outcome == "open" and not call.is_inherited]

    def apply(self, recorded: Foldable) -> None:
        """Take the next event of the session."""
        event = recorded.event
        fold = _fold_of(type(event))
        if fold is not None:  # else it is a type that is no part of the conversation
            fold(self, event, recorded)
        self.summary.count(recorded, event)
        self.version, self.hash = recorded.version, recorded.hash

    def with_compaction(self, event: ConversationCompacted) -> SessionState:
        """Return the state that this one comes to when the event is the next."""
        after = replace(self, compactions=list(self.compactions))
        after.compactions.append(_compaction(event, Version(self.version + 1)))
        return after


def _retract(state: SessionState, event: MessageRetracted, _: Foldable) -> None:
    state.messages = [
        replace(m, status="retracted") if m.message_id == event.message_id else m
        for m in state.messages
    ]


def _compact(state: SessionState, event: ConversationCompacted, recorded: Foldable) -> None:
    state.compactions.append(_compaction(event, recorded.version))


def _begin_turn(state: SessionState, event: TurnStarted, _: Foldable) -> None:
    state.turn_id = event.turn_id


def _end_turn(state: SessionState, event: TurnEnded, _: Foldable) -> None:
    state.turn_id = None if state.turn_id == event.turn_id else state.turn_id


def _start(state: SessionState, event: SessionStarted, _: Foldable) -> None:
    state.user, state.agent, state.title = event.user, event.agent, event.title


def _update(state: SessionState, event: SessionUpdated, _: Foldable) -> None:
    state.title = event.title if event.title is not None else state.title


def _rewind(state: SessionState, event: ConversationRewound, _: Foldable) -> None:
    to_version = event.to_version
    state.messages = [
        message if message.version <= to_version else replace(message, status="rewound")
        for message in state.messages
    ]
    state.compactions = [c for c in state.compactions if c.last_version <= to_version]


def _message(state: SessionState, event: MessageAdded, recorded: Foldable) -> None:
    message = Message(
        event.message_id,
        event.role,
        event.parts,
        recorded.version,
        recorded.recorded_at,
        state.turn_id,
        event.name,
        event.model_call_id,
        event.status,
        recorded.tokens,
    )
    state.messages.append(message)
    for part in event.parts:
        if type(part) is ToolCallPart and part.call_id not in state.calls:
            state.calls[part.call_id] = ToolCall(
                part.call_id, part.name, part.arguments_text, recorded.version
            )


def _begin_call(state: SessionState, event: ToolStarted, recorded: Foldable) -> None:
    held = state.calls.get(event.call_id)
    if held is None or event.attempt > held.attempt:
        state.calls[event.call_id] = ToolCall(
            event.call_id,
            event.tool,
            event.arguments_text,
            recorded.version if held is None else held.version,
            "open",
            event.attempt,
            event.effect,
            event.idempotency_key,
            started_version=recorded.version,
        )


def _end_call(state: SessionState, event: ToolCompleted | ToolFailed, recorded: Foldable) -> None:
    held = state.calls.get(event.call_id)
    if held is None or event.attempt >= held.attempt:
        _settle(state, held, event.attempt, event, recorded.version)


def _settle_call(state: SessionState, event: ToolSettled, recorded: Foldable) -> None:
    held = state.calls.get(event.call_id)
    attempt = 0 if held is None else held.attempt
    _settle(state, held, attempt, event, recorded.version)


def _settle(
    state: SessionState,
    held: ToolCall | None,
    attempt: int,
    event: ToolCompleted | ToolFailed | ToolSettled,
    version: Version,
) -> None:
    """The first outcome of an attempt counts; a later one changes nothing."""
    if held is None:
        held = ToolCall(event.call_id, "", "", version)
    elif held.outcome != "open" and held.attempt == attempt:
        return
    outcome: CallOutcome = "completed" if isinstance(event, ToolCompleted) else "failed"
    if isinstance(event, ToolSettled):
        outcome = event.outcome
    state.calls[held.call_id] = ToolCall(
        held.call_id,
        held.tool,
        held.arguments_text,
        held.version,
        outcome,
        attempt,
        held.effect,
        held.idempotency_key,
        event.output,
        event.result if isinstance(event, ToolCompleted) else None,
        None if isinstance(event, ToolCompleted) else event.error,
        held.started_version,
        version,
    )


def _compaction(event: ConversationCompacted, version: Version) -> Compaction:
    carried = [(each.kind, each.value) for each in event.carried]
    return Compaction(event.first_version, event.last_version, event.summary, carried, version)


def _status(status: str) -> _Fold:
    def change(state: SessionState, _: Any, __: Foldable) -> None:
        state.status = status

    return change


_Fold: TypeAlias = Callable[[SessionState, Any, "Foldable"], None]
# Looked up by type: asking a model for its type again and again takes longer than folding it.
_FOLDS: Mapping[type[Event], _Fold] = {
    MessageAdded: _message,
    MessageRetracted: _retract,
    ConversationRewound: _rewind,
    ConversationCompacted: _compact,
    ToolStarted: _begin_call,
    ToolCompleted: _end_call,
    ToolFailed: _end_call,
    ToolSettled: _settle_call,
    TurnStarted: _begin_turn,
    TurnEnded: _end_turn,
    SessionStarted: _start,
    SessionUpdated: _update,
    SessionEnded: _status("ended"),
    SessionExpired: _status("expired"),
    SessionDeleted: _status("deleted"),
    SessionResumed: _status("open"),
}


@cache
def _fold_of(kind: type[Event]) -> _Fold | None:
    """Return what folds events of a model, or of the model that it is made from."""
    return next((_FOLDS[base] for base in kind.__mro__ if base in _FOLDS), None)
