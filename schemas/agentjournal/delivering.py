"""Handoffs between two sessions: the child begun once, and its result brought back once."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from agentjournal.approvals import moment
from agentjournal.errors import (
    AppendIdReused,
    LimitExceeded,
    SessionMismatch,
    StreamDeleted,
    VersionConflict,
)
from agentjournal.events import (
    Constraints,
    Failure,
    HandoffCompleted,
    HandoffFailed,
    HandoffRequested,
    SessionStarted,
)
from agentjournal.execution_state import Handoff, child_of
from agentjournal.handoffs import (
    child_start,
    first_message,
    is_overdue,
    result_append_id,
    result_of,
    too_late,
)
from agentjournal.receipts import Receipt
from agentjournal.state import SessionState

if TYPE_CHECKING:
    from agentjournal.session_handoffs import SessionHandoffs

Result: TypeAlias = HandoffCompleted | HandoffFailed


async def begin_or_find(
    session: SessionHandoffs, state: SessionState, handoff: Handoff
) -> Result | None:
    """Begin the child session of a handoff that is open; return what it has come to if it ended.

    Whoever crashed after it was asked for, this is done again: a session begins once.
    """
    if handoff.ended_version is not None or handoff.child_session_id is None:
        return None
    child = session.beside(handoff.child_session_id, child_start(state, handoff))
    constraints = handoff.constraints or Constraints()
    is_late = is_overdue(handoff, moment(state, session.now()))
    try:
        found = await child.current()
        if not found.version and not is_late:
            found = await _begun(child, handoff)
    except StreamDeleted:
        return _failed(handoff, "session_deleted", "the child session was deleted")
    except SessionMismatch:
        return _failed(handoff, "session_taken", "the child session is another user's")
    except LimitExceeded as limit:  # of a session of this tenant: it could not even begin
        return _failed(handoff, "limit_exceeded", str(limit))
    result: Result | None = None
    if found.version:
        if not _is_child(found, session.id, handoff):
            return _failed(handoff, "session_taken", "the child session has another origin")
        result = result_of(found, handoff.handoff_id, constraints)
    if result is None and is_late and constraints.deadline_at is not None:
        error = too_late(constraints.deadline_at)
        result = HandoffFailed(handoff_id=handoff.handoff_id, error=error)
    return result


async def _begun(child: SessionHandoffs, handoff: Handoff) -> SessionState:
    """Begin a child session unless it has; return what it has come to, once others began it."""
    try:
        await child.append(first_message(handoff), expected_version=0)
    except VersionConflict:
        return await child.current()
    return SessionState(child.stream)  # there is nothing in it yet that could be a result


def _failed(handoff: Handoff, kind: str, message: str) -> HandoffFailed:
    error = Failure(type=kind, message=message)
    return HandoffFailed(handoff_id=handoff.handoff_id, error=error)


def _is_child(child: SessionState, session_id: str, handoff: Handoff) -> bool:
    parent = child_of(child.parent)
    if parent is None:
        return False
    return (parent.session_id, parent.version) == (session_id, handoff.version)


async def given_by(
    session: SessionHandoffs, state: SessionState
) -> tuple[SessionHandoffs, HandoffRequested] | None:
    """Return who waits for this session's result, and what was asked; None when nobody does."""
    parent = child_of(state.parent)
    if parent is None:
        return None
    start = SessionStarted(agent=session.agent or "agent")  # it has begun: this is not written
    waiting = session.beside(parent.session_id, start)
    event = await waiting.event_at(parent.version)
    if not isinstance(event, HandoffRequested) or event.child_session_id != session.id:
        return None
    return waiting, event


async def record_result(parent: SessionHandoffs, result: Result) -> Receipt | None:
    """Record the result of a handoff in the session that waits; None when there was one already.

    Whoever does this does it under the same append id, and of two results the first counts.
    """
    try:
        return await parent.append(result, append_id=result_append_id(result.handoff_id))
    except AppendIdReused:
        return None
