"""Work that is handed to another agent: what it is given, and what its session comes to."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from pydantic import ValidationError

from agentjournal.approvals import moment_of
from agentjournal.codec import encode
from agentjournal.errors import AppendRejected
from agentjournal.events import (
    Constraints,
    Event,
    Failure,
    HandoffCompleted,
    HandoffFailed,
    HandoffRequested,
    MessageAdded,
    Money,
    Parent,
    SessionStarted,
    TurnEnded,
)
from agentjournal.events.decode import rejection
from agentjournal.execution_state import Handoff
from agentjournal.ids import Version, parse_stream
from agentjournal.session_terms import inherited_terms
from agentjournal.state import SessionState
from agentjournal.turns import waiting
from agentjournal.usage import usage_of

Mode: TypeAlias = Literal["delegate", "transfer"]
VIOLATED = "constraint_violated"  # the type of a failure, and the code of a call's
TASK_MESSAGE = "task-"  # begins the id of the message that a child session begins with
_MOST_TITLE = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be handed over, to whom, and within which limits; see `Session.hand_off`."""

    to_agent: str
    task: str
    mode: Mode = "delegate"
    context: Sequence[Any] = ()
    tools: Sequence[str] | None = None
    max_tool_calls: int | None = None
    deadline_in_s: float | None = None
    deadline_at: datetime | str | None = None
    max_tokens: int | None = None
    max_cost: Money | None = None
    handoff_id: str | None = None
    child_session_id: str | None = None


def handing_off(state: SessionState, wanted: Wanted, now: datetime) -> HandoffRequested:
    """Return the event that hands something over; ids are made of it, unless they are given.

    A transfer of the same is another one in another turn. Raises AppendRejected when something
    cannot be recorded, or would have no effect.
    """
    is_transfer = wanted.mode == "transfer"
    handoff_id = wanted.handoff_id or _id_of(
        state.stream,
        *(wanted.mode, wanted.to_agent, wanted.task, encode(list(wanted.context)).decode()),
        (state.turn_id or str(state.version)) if is_transfer else "",
    )
    limits: dict[str, Any] = {
        "max_tool_calls": wanted.max_tool_calls,
        "tools": None if wanted.tools is None else list(wanted.tools),
        "deadline_at": moment_of("deadline", now, wanted.deadline_in_s, wanted.deadline_at),
        "max_tokens": wanted.max_tokens,
        "max_cost": wanted.max_cost,
    }
    limits = {name: value for name, value in limits.items() if value is not None}
    child_id = wanted.child_session_id
    if is_transfer and (limits or child_id is not None):
        name = next(iter(limits), "child_session_id")
        raise AppendRejected(name, "is for a delegate: a transfer goes on in the same session")
    try:
        return HandoffRequested(
            handoff_id=handoff_id,
            mode=wanted.mode,
            to_agent=wanted.to_agent,
            child_session_id=None if is_transfer else child_id or _child_id(state, handoff_id),
            task=wanted.task,
            context=list(wanted.context),
            constraints=Constraints(**limits),
        )
    except ValidationError as error:
        raise rejection(error) from None


def _child_id(state: SessionState, handoff_id: str) -> str:
    return f"h-{_id_of(state.stream, handoff_id)}"


def _id_of(*what: str) -> str:
    return hashlib.sha256("\0".join(what).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def handing(state: SessionState, event: HandoffRequested) -> list[Event]:
    """Return what hands over, and ends the turn; nothing once there is a result.

    After a transfer there is nothing to wait for.
    """
    held = state.handoffs.get(event.handoff_id)
    if held is not None and held.ended_version is not None:
        return []
    asked: list[Event] = [] if held is not None else [event]
    if event.mode == "delegate":
        after = state.copied()
        after.handoffs[event.handoff_id] = held or planned(event)
        return [*asked, *waiting(after)]
    if state.turn_id is not None and asked:
        asked.append(TurnEnded(turn_id=state.turn_id, reason="completed"))
    return asked


def planned(event: HandoffRequested) -> Handoff:
    """Return a handoff as its request makes it, of which the version is not known yet."""
    return Handoff(
        event.handoff_id,
        event.mode,
        event.to_agent,
        event.task,
        Version(0),
        event.child_session_id,
        event.context,
        event.constraints,
    )


def child_start(state: SessionState, handoff: Handoff) -> SessionStarted:
    """Return the event that the child session of a handoff begins with."""
    session_id = parse_stream(state.stream)[2]
    return SessionStarted(
        user=state.user,
        agent=handoff.to_agent,
        title=handoff.task.partition("\n")[0][:_MOST_TITLE],
        parent=Parent(session_id=session_id, version=handoff.version, relation="handoff"),
        **inherited_terms(state),
    )


def first_message(handoff: Handoff) -> MessageAdded:
    """Return all that the other agent is given: the task, and what it needs to know."""
    return MessageAdded(
        role="user",
        content=shown_task(handoff),
        message_id=f"{TASK_MESSAGE}{_id_of(handoff.handoff_id)}",
    )


def shown_task(handoff: Handoff) -> str:
    """Return the task and its context as a model reads them."""
    context = [each if isinstance(each, str) else encode(each).decode() for each in handoff.context]
    return "\n\n".join([handoff.task, *context])


def result_append_id(handoff_id: str) -> str:
    """Return the append id under which a handoff's result is recorded, whoever does it."""
    return f"handoff-result-{_id_of(handoff_id)}"


def accept_append_id(handoff_id: str) -> str:
    """Return the append id under which it is recorded that the other agent began."""
    return f"handoff-accepted-{_id_of(handoff_id)}"


def result_of(
    child: SessionState, handoff_id: str, constraints: Constraints
) -> HandoffCompleted | HandoffFailed | None:
    """Return what a child session came to; None while it goes on.

    A turn that completed is the result, with what its agent said last; one that failed, or came to
    a limit, is a failure, and so is a deadline that passed before by the broker's clock. One that
    said when it goes on is not over.
    """
    turn = child.turn
    if turn is None or turn.reason in {None, "waiting", "interrupted"} or turn.resume_at:
        if child.status == "open":
            return None
        error = Failure(
            type=f"session_{child.status}", message="the session ended without a result"
        )
        return HandoffFailed(handoff_id=handoff_id, error=error)
    if turn.reason != "completed":
        error = turn.error or Failure(type=turn.reason or "error", message="its turn ended so")
        return HandoffFailed(handoff_id=handoff_id, error=error)
    deadline = constraints.deadline_at
    if deadline is not None and turn.ended_at is not None and _is_past(deadline, turn.ended_at):
        return HandoffFailed(handoff_id=handoff_id, error=too_late(deadline))
    said = (m for m in reversed(child.messages) if m.role == "assistant" and m.text)
    answer = next((m for m in said if m.turn_id == turn.turn_id), None)
    return HandoffCompleted(
        handoff_id=handoff_id, summary="" if answer is None else answer.text, usage=usage_of(child)
    )


def too_late(deadline: str) -> Failure:
    """Return how a deadline that passed stands in the log."""
    return Failure(type=VIOLATED, message=f"the deadline was {deadline}", code="deadline_at")


def is_overdue(handoff: Handoff, now: datetime) -> bool:
    """Whether a handoff's deadline has passed."""
    deadline = None if handoff.constraints is None else handoff.constraints.deadline_at
    return deadline is not None and datetime.fromisoformat(deadline) <= now


def _is_past(deadline: str, at: str) -> bool:
    return datetime.fromisoformat(deadline) < datetime.fromisoformat(at)


def failure_from(error: BaseException | str | Failure) -> Failure:
    """Return how an error stands in the result of a handoff."""
    match error:
        case Failure():
            return error
        case str():
            return Failure(message=error)
        case _:
            name = type(error).__name__
            return Failure(message=str(error) or name, code=name)
