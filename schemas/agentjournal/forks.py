"""What a fork begins with: what its parent had come to where it was left.

Nothing is copied into the log. What is inherited stands before the fork's own version 1: the
parent's version v is v - at, so the order stays, and versions at or below 0 are the parent's.
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import ValidationError

from agentjournal.errors import IntegrityError, SessionMismatch
from agentjournal.events import Parent, SessionStarted
from agentjournal.events.decode import rejection
from agentjournal.ids import StreamId, Version, parse_stream, stream_id
from agentjournal.session_terms import inherited_terms
from agentjournal.state import Compaction, Message, SessionState
from agentjournal.stored import Foldable
from agentjournal.tool_calls import ToolCall

MOST_FORKS = 50  # one of another; what is deeper could as well come from itself


class ForkTooDeepError(IntegrityError):
    """A session comes from more forks of forks than there may be, or from itself."""

    def __init__(self, stream: StreamId) -> None:
        super().__init__(f"{stream} is at the end of more than {MOST_FORKS} forks of forks")


def forked(
    state: SessionState, handle: SessionStarted, *, title: str | None, agent: str | None
) -> SessionStarted:
    """Return the event that begins a fork of `state`, for one who has its `handle`.

    Raises SessionMismatch when the session is another user's, AppendRejected when title or agent
    cannot be one, ValueError when there is nothing to fork.
    """
    if handle.user is not None and state.user is not None and handle.user != state.user:
        raise SessionMismatch(state.stream)
    if not state.version:
        raise ValueError(f"{state.stream} has nothing at version 0 that could be forked")
    session_id = parse_stream(state.stream)[2]
    parent = Parent(session_id=session_id, version=state.version, relation="fork")
    try:
        return SessionStarted(
            user=state.user,
            agent=agent or state.agent or handle.agent,
            title=title if title is not None else state.title,
            parent=parent,
            **inherited_terms(state),
        )
    except ValidationError as error:
        raise rejection(error) from None


def fork_of(first: Foldable) -> Parent | None:
    """Return where a session was forked from, by its first event; None when it was not."""
    if first.type != SessionStarted.type:
        return None
    event = first.event
    parent = event.parent if isinstance(event, SessionStarted) else None
    return parent if parent is not None and parent.relation == "fork" else None


def parent_stream(stream: StreamId, parent: Parent) -> StreamId:
    """Return the stream of a session's parent: it is of the same tenant."""
    return stream_id("session", parse_stream(stream)[1], parent.session_id)


def inherit(state: SessionState, first: Foldable, parent: SessionState) -> None:
    """Let the empty `state` begin with what `parent` has come to.

    Raises SessionMismatch when the parent is another user's than the fork's `first` event says.
    """
    event = first.event
    user = event.user if isinstance(event, SessionStarted) else None
    if user is not None and parent.user is not None and user != parent.user:
        raise SessionMismatch(parent.stream)
    by = parent.version
    state.messages = [_message(each, by) for each in parent.messages]
    state.calls = {call_id: _call(each, by) for call_id, each in parent.calls.items()}
    state.compactions = [_compaction(each, by) for each in parent.compactions]


def _message(message: Message, by: int) -> Message:
    return replace(message, version=Version(message.version - by))


def _call(call: ToolCall, by: int) -> ToolCall:
    return replace(
        call,
        version=Version(call.version - by),
        started_version=_earlier(call.started_version, by),
        ended_version=_earlier(call.ended_version, by),
    )


def _compaction(compaction: Compaction, by: int) -> Compaction:
    return replace(
        compaction,
        first_version=compaction.first_version - by,
        last_version=compaction.last_version - by,
        version=Version(compaction.version - by),
    )


def _earlier(version: Version | None, by: int) -> Version | None:
    return None if version is None else Version(version - by)
