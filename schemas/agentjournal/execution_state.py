"""What a session waits for and what is done in it: turns, approvals, questions, handoffs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agentjournal.events import (
    ApprovalDenied,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRequested,
    Constraints,
    Failure,
    HandoffAccepted,
    HandoffCompleted,
    HandoffFailed,
    HandoffRequested,
    InputProvided,
    InputRequested,
    Parent,
    TurnEnded,
    TurnStarted,
)
from agentjournal.events.wire import is_redacted
from agentjournal.ids import Version
from agentjournal.stored import Foldable

if TYPE_CHECKING:
    from agentjournal.state import Message, SessionState

ApprovalOutcome: TypeAlias = Literal["open", "granted", "denied", "expired"]
HandoffOutcome: TypeAlias = Literal["open", "accepted", "completed", "failed"]


@dataclass(frozen=True, slots=True)
class Turn:
    """A stretch of work on what was asked, from `turn.started` to `turn.ended`."""

    turn_id: str
    trigger: str
    started_version: Version
    reason: str | None = None  # why it ended; None: it is open
    ended_version: Version | None = None
    resume_at: str | None = None
    ended_at: str | None = None  # the broker's clock
    error: Failure | None = None


@dataclass(frozen=True, slots=True)
class Approval:
    """What somebody was asked to allow, and the answer."""

    approval_id: str
    question: str
    version: Version
    call_id: str | None = None
    arguments_digest: str | None = None
    choices: Sequence[str] | None = None
    expires_at: str | None = None
    requested_of: str | None = None
    outcome: ApprovalOutcome = "open"
    by: str | None = None
    comment: str | None = None
    edited_arguments_text: str | None = None
    answered_version: Version | None = None
    is_redacted: bool = False  # whether the log does not have all of the edited arguments


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody was asked, and the answer."""

    input_id: str
    question: str
    version: Version
    answer_schema: Any = None
    by: str | None = None
    value: Any = None
    answered_version: Version | None = None  # None: it is open


@dataclass(frozen=True, slots=True)
class Handoff:
    """What another agent was asked to take over, and what came of it."""

    handoff_id: str
    mode: str
    to_agent: str
    task: str
    version: Version
    child_session_id: str | None = None
    context: Sequence[Any] = ()
    constraints: Constraints | None = None
    outcome: HandoffOutcome = "open"
    summary: str | None = None
    data: Any = None
    usage: Any = None
    error: Failure | None = None
    ended_version: Version | None = None


def turn_started(state: SessionState, event: TurnStarted, recorded: Foldable) -> None:
    """Begin a turn; the messages that it names are seen.

    With the first turn of a session the earlier ones are, that somebody answered without turns.
    """
    if state.turn is None:
        left = {message.version for message in unanswered(state)}
        said = {message.version for message in state.messages if message.role == "user"}
        state.seen.update(said - left)
    state.turn = Turn(event.turn_id, event.trigger, recorded.version)
    state.seen.update(event.input_versions)
    state.turn_id = event.turn_id


GONE = frozenset({"retracted", "rewound"})


def unanswered(state: SessionState) -> list[Message]:
    """Return the user's messages that are behind the last answer of the assistant."""
    found: list[Message] = []
    for message in reversed(state.messages):
        if message.role == "assistant" and message.status == "complete":
            break
        if message.role == "user" and message.status not in GONE:
            found.append(message)
    return found[::-1]


def turn_ended(state: SessionState, event: TurnEnded, recorded: Foldable) -> None:
    """End the turn, if it is the one that is open."""
    if state.turn_id != event.turn_id or state.turn is None:
        return
    held, state.turn_id = state.turn, None
    state.turn = Turn(  # each turn has one of these: `replace` takes three times as long
        held.turn_id,
        held.trigger,
        held.started_version,
        event.reason,
        recorded.version,
        event.resume_at,
        recorded.recorded_at,
        event.error,
    )


def approval_requested(state: SessionState, event: ApprovalRequested, recorded: Foldable) -> None:
    """Note what is to be allowed; of two requests under one id the first stands."""
    if event.approval_id not in state.approvals:
        state.approvals[event.approval_id] = Approval(
            event.approval_id,
            event.question,
            recorded.version,
            event.call_id,
            event.arguments_digest,
            event.choices,
            event.expires_at,
            event.requested_of,
        )


def approval_answered(
    state: SessionState,
    event: ApprovalGranted | ApprovalDenied | ApprovalExpired,
    recorded: Foldable,
) -> None:
    """Note the answer; the first stands."""
    held = state.approvals.get(event.approval_id)
    if held is None or held.outcome != "open":
        return
    outcome: ApprovalOutcome = "expired"
    if isinstance(event, ApprovalGranted | ApprovalDenied):
        outcome = "granted" if isinstance(event, ApprovalGranted) else "denied"
        held = replace(held, by=event.by, comment=event.comment)
    if isinstance(event, ApprovalGranted):
        held = replace(
            held,
            edited_arguments_text=event.edited_arguments_text,
            is_redacted=is_redacted(event, "edited_arguments_text"),
        )
    held = replace(held, outcome=outcome, answered_version=recorded.version)
    state.approvals[event.approval_id] = held
    state.answered_version = recorded.version


def input_requested(state: SessionState, event: InputRequested, recorded: Foldable) -> None:
    """Note a question; of two under one id the first stands."""
    if event.input_id not in state.questions:
        state.questions[event.input_id] = Question(
            event.input_id, event.question, recorded.version, event.answer_schema
        )


def input_provided(state: SessionState, event: InputProvided, recorded: Foldable) -> None:
    """Note the answer; the first stands."""
    held = state.questions.get(event.input_id)
    if held is not None and held.answered_version is None:
        state.questions[event.input_id] = replace(
            held, by=event.by, value=event.value, answered_version=recorded.version
        )
        state.answered_version = recorded.version


def handoff_requested(state: SessionState, event: HandoffRequested, recorded: Foldable) -> None:
    """Note what is handed over; of two requests under one id the first stands."""
    if event.handoff_id not in state.handoffs:
        state.handoffs[event.handoff_id] = Handoff(
            event.handoff_id,
            event.mode,
            event.to_agent,
            event.task,
            recorded.version,
            event.child_session_id,
            event.context,
            event.constraints,
        )


def handoff_accepted(state: SessionState, event: HandoffAccepted, _: Foldable) -> None:
    """Note that the other agent began; a conversation that is transferred is its own now."""
    held = state.handoffs.get(event.handoff_id)
    if held is not None and held.outcome == "open":
        state.handoffs[event.handoff_id] = replace(held, outcome="accepted")
        if held.mode == "transfer":
            state.agent = held.to_agent


def handoff_ended(
    state: SessionState, event: HandoffCompleted | HandoffFailed, recorded: Foldable
) -> None:
    """Note the result; the first stands."""
    held = state.handoffs.get(event.handoff_id)
    if held is None or held.ended_version is not None:
        return
    if isinstance(event, HandoffCompleted):
        held = replace(
            held, outcome="completed", summary=event.summary, data=event.data, usage=event.usage
        )
    else:
        held = replace(held, outcome="failed", error=event.error)
    state.handoffs[event.handoff_id] = replace(held, ended_version=recorded.version)
    state.answered_version = recorded.version


def child_of(parent: Parent | None) -> Parent | None:
    """Return the parent that waits for this session's result, or None."""
    return parent if parent is not None and parent.relation == "handoff" else None
