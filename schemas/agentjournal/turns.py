"""What is left to do in a session, and what it waits for: messages, answers, other agents."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from agentjournal.events import Event, TurnEnded
from agentjournal.execution_state import GONE, unanswered
from agentjournal.state import Message, SessionState
from agentjournal.tool_calls import ToolCall

Trigger: TypeAlias = Literal["user", "schedule", "approval", "handoff", "resume"]


def inbox(state: SessionState) -> list[Message]:
    """Return the user's messages that no turn has taken up yet, in their order.

    In a session that never had a turn these are the ones behind the last answer of the assistant.
    """
    if state.turn is None:
        return unanswered(state)
    said = (m for m in state.messages if m.role == "user" and m.version not in state.seen)
    return [message for message in said if message.status not in GONE]


def is_answered(state: SessionState, now: datetime) -> bool:
    """Whether nothing is left to do: no message, no open turn, no answer that was waited for."""
    return begin_for(state, now) is None and state.turn_id is None


def begin_for(state: SessionState, now: datetime) -> Trigger | None:
    """Return what a new turn would be for, None when there is nothing that would need one."""
    if inbox(state):
        return "user"
    if state.turn is None:
        return "resume" if asked_for(state) else None  # its calls, or what came of them
    if state.turn_id is not None:
        return None
    if state.turn.reason == "waiting" and state.answered_version > (state.turn.ended_version or 0):
        return _answer_kind(state)
    due = state.turn.resume_at
    return "schedule" if due is not None and datetime.fromisoformat(due) <= now else None


def _answer_kind(state: SessionState) -> Trigger:
    version = state.answered_version
    if any(each.answered_version == version for each in state.approvals.values()):
        return "approval"
    if any(each.ended_version == version for each in state.handoffs.values()):
        return "handoff"
    return "resume"


def asked_for(state: SessionState) -> list[ToolCall]:
    """Return the calls that the last assistant message asks for, whatever came of them.

    Earlier ones were left behind when the model went on, but for those that somebody was asked
    about; and a fork's parent's are not its own.
    """
    last = next(
        (m for m in reversed(state.messages) if m.role == "assistant" and m.status not in GONE),
        None,
    )
    # A message that names a call twice asks for it once: there is one call of an id.
    ids = [] if last is None else dict.fromkeys(part.call_id for part in last.tool_calls)
    asked = [state.calls[call_id] for call_id in ids]
    about = {approval.call_id for approval in state.approvals.values()}
    asked += [
        c for c in state.open_calls if c.call_id in about and not c.attempt and c not in asked
    ]
    return [call for call in asked if not call.is_inherited]


def waits(state: SessionState) -> bool:
    """Whether somebody was asked, or another agent works for this one, and there is no answer."""
    return (
        any(each.outcome == "open" for each in state.approvals.values())
        or any(each.answered_version is None for each in state.questions.values())
        or any(
            each.mode == "delegate" and each.ended_version is None
            for each in state.handoffs.values()
        )
    )


def waiting(state: SessionState) -> list[Event]:
    """Return what ends the turn that is open to wait: until the first deadline of a handoff."""
    if state.turn_id is None:
        return []
    deadlines = [
        each.constraints.deadline_at
        for each in state.handoffs.values()
        if each.ended_version is None and each.constraints is not None
    ]
    given = [deadline for deadline in deadlines if deadline is not None]
    due = min(given, key=datetime.fromisoformat, default=None)
    return [TurnEnded(turn_id=state.turn_id, reason="waiting", resume_at=due)]
