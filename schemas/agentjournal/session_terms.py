"""What a session begins with, and what may be said of it otherwise later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentjournal.events import Limits, SessionStarted, SessionUpdated
from agentjournal.stored import Foldable

if TYPE_CHECKING:
    from agentjournal.state import SessionState


def session_started(state: SessionState, event: SessionStarted, _: Foldable) -> None:
    """Note whose it is, what it is about, and within which limits."""
    state.user, state.agent, state.title = event.user, event.agent, event.title
    state.parent, state.entities = event.parent, event.entities
    state.limits, state.ttl_s = event.limits, event.ttl_s


def session_updated(state: SessionState, event: SessionUpdated, _: Foldable) -> None:
    """Note what changed; of limits, those that are named."""
    state.title = event.title if event.title is not None else state.title
    state.entities = event.entities if event.entities is not None else state.entities
    state.ttl_s = event.ttl_s if event.ttl_s is not None else state.ttl_s
    if event.limits is not None:
        named = {name: limit for name, limit in event.limits if limit is not None}
        state.limits = (state.limits or Limits()).model_copy(update=named)


def inherited_terms(state: SessionState) -> dict[str, Any]:
    """Return what a session begins with that comes from one in this state: fields of its start."""
    return {"entities": list(state.entities), "limits": state.limits, "ttl_s": state.ttl_s}
