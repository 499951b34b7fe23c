"""The state of a session: a pure fold over its events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeAlias

from agentjournal.envelope import NO_HASH
from agentjournal.events import (
    ApprovalDenied,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRequested,
    ConversationCompacted,
    ConversationRewound,
    Entity,
    Event,
    HandoffAccepted,
    HandoffCompleted,
    HandoffFailed,
    HandoffRequested,
    InputProvided,
    InputRequested,
    LeaseAcquired,
    LeaseReleased,
    Limits,
    MessageAdded,
    MessageRetracted,
    ModelCalled,
    Parent,
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
    ToolSettled,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from agentjournal.events.wire import is_redacted
from agentjournal.execution_state import (
    Approval,
    Handoff,
    Question,
    Turn,
    approval_answered,
    approval_requested,
    handoff_accepted,
    handoff_ended,
    handoff_requested,
    input_provided,
    input_requested,
    turn_ended,
    turn_started,
    unanswered,
)
from agentjournal.ids import StreamId, Version
from agentjournal.lease_state import SessionLease, lease_acquired, lease_released
from agentjournal.session_terms import session_started, session_updated
from agentjournal.stored import Foldable
from agentjournal.summary import Summary
from agentjournal.tool_calls import ToolCall, begin_call, end_call, settle_call
from agentjournal.usage import Usage, model_called
from agentjournal.work_state import (
    WORK_FOLDS,
    WorkState,
    bring_notes_back,
    forget_notes,
    put_notes_aside,
)


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
class Compaction:
    """A stretch of the conversation that is shown as a summary; the log keeps all of it."""

    first_version: int
    last_version: int
    summary: str
    carried: Sequence[tuple[str, Any]]  # (kind, value), word for word
    version: Version


@dataclass(slots=True)
class SessionState(WorkState):
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
    parent: Parent | None = None
    entities: Sequence[Entity] = ()  # that it is about beside its user
    limits: Limits | None = None  # those that are its own
    ttl_s: float | None = None  # None: its tenant's
    turn: Turn | None = None  # the last one, open or ended
    seen: set[int] = field(default_factory=set[int])  # versions of messages that turns began with
    lease: SessionLease | None = None
    approvals: dict[str, Approval] = field(default_factory=dict[str, Approval])
    questions: dict[str, Question] = field(default_factory=dict[str, Question])
    handoffs: dict[str, Handoff] = field(default_factory=dict[str, Handoff])
    answered_version: int = 0  # of the last answer to what the session waited for
    usage: Usage = field(default_factory=Usage)
    rewinds: tuple[tuple[int, int], ...] = ()  # (to which version, at which)
    last: Foldable | None = field(default=None, compare=False, repr=False)
    summary: Summary = field(default_factory=Summary, compare=False)  # what it was folded from

    @property
    def open_calls(self) -> list[ToolCall]:
        """Calls that were asked for or started, and have no outcome; a fork's parent's are not."""
        return [c for c in self.calls.values() if c.outcome == "open" and not c.is_inherited]

    def apply(self, recorded: Foldable) -> None:
        """Take the next event of the session."""
        event = recorded.event
        self.take(recorded, event)
        self.summary.count(recorded, event)

    def take(self, recorded: Foldable, event: Event) -> None:
        """Take the next event, which was read already; who calls counts it in the summary."""
        fold = _fold_of(type(event))
        if fold is not None:  # else it is a type that is no part of the conversation
            fold(self, event, recorded)
        self.version, self.hash, self.last = recorded.version, recorded.hash, recorded

    def copied(self) -> SessionState:
        """Return a state that goes on without this one."""
        return replace(
            self,
            messages=list(self.messages),
            calls=dict(self.calls),
            compactions=list(self.compactions),
            seen=set(self.seen),
            approvals=dict(self.approvals),
            questions=dict(self.questions),
            handoffs=dict(self.handoffs),
            summary=self.summary.copied(),
            **self.copied_work(),
        )

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


def _rewind(state: SessionState, event: ConversationRewound, recorded: Foldable) -> None:
    state.rewinds += ((event.to_version, recorded.version),)
    state.messages = [
        message if message.version <= event.to_version else replace(message, status="rewound")
        for message in state.messages
    ]
    state.compactions = [c for c in state.compactions if c.last_version <= event.to_version]
    # What was said after the last answer that is left is to be answered again.
    state.seen = state.seen.difference(message.version for message in unanswered(state))


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
    for index, part in enumerate(event.parts):
        if type(part) is ToolCallPart and part.call_id not in state.calls:
            state.calls[part.call_id] = ToolCall(
                part.call_id,
                part.name,
                part.arguments_text,
                recorded.version,
                is_redacted=is_redacted(event, "parts", index, "arguments_text"),
            )


def _compaction(event: ConversationCompacted, version: Version) -> Compaction:
    carried = [(each.kind, each.value) for each in event.carried]
    return Compaction(event.first_version, event.last_version, event.summary, carried, version)


def _status(status: str) -> _Fold:
    def change(state: SessionState, _: Any, __: Foldable) -> None:
        state.status = status
        match status:
            case "open":
                bring_notes_back(state)
            case "expired":
                put_notes_aside(state)
            case _:
                forget_notes(state)

    return change


_Fold: TypeAlias = Callable[[SessionState, Any, "Foldable"], None]
# Looked up by type: asking a model for its type again and again takes longer than folding it.
_FOLDS: Mapping[type[Event], _Fold] = {
    **WORK_FOLDS,
    MessageAdded: _message,
    MessageRetracted: _retract,
    ConversationRewound: _rewind,
    ConversationCompacted: _compact,
    ModelCalled: model_called,
    ToolStarted: begin_call,
    ToolCompleted: end_call,
    ToolFailed: end_call,
    ToolSettled: settle_call,
    TurnStarted: turn_started,
    TurnEnded: turn_ended,
    LeaseAcquired: lease_acquired,
    LeaseReleased: lease_released,
    ApprovalRequested: approval_requested,
    ApprovalGranted: approval_answered,
    ApprovalDenied: approval_answered,
    ApprovalExpired: approval_answered,
    InputRequested: input_requested,
    InputProvided: input_provided,
    HandoffRequested: handoff_requested,
    HandoffAccepted: handoff_accepted,
    HandoffCompleted: handoff_ended,
    HandoffFailed: handoff_ended,
    SessionStarted: session_started,
    SessionUpdated: session_updated,
    SessionEnded: _status("ended"),
    SessionExpired: _status("expired"),
    SessionDeleted: _status("deleted"),
    SessionResumed: _status("open"),
}


@cache
def _fold_of(kind: type[Event]) -> _Fold | None:
    """Return what folds events of a model, or of the model that it is made from."""
    return next((_FOLDS[base] for base in kind.__mro__ if base in _FOLDS), None)
