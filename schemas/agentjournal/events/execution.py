"""Decisions, notes, leases and checkpoints of a running agent."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from agentjournal.events.base import Event
from agentjournal.events.fields import Id, Ordinal, Span, Text


class DecisionMade(Event):
    """Somebody chose between alternatives."""

    type: ClassVar[str] = "decision.made"

    question: Text
    choice: Any
    alternatives: list[Any] | None = None
    reason: Text
    by: Id = Field(description="the agent or person that chose")


class NoteSet(Event):
    """A key of working memory has this value."""

    type: ClassVar[str] = "note.set"

    key: Id
    value: Any
    ttl_s: Span | None = Field(default=None, description="time after which it is forgotten")


class NoteDeleted(Event):
    """A key of working memory is gone."""

    type: ClassVar[str] = "note.deleted"

    key: Id


class LeaseAcquired(Event):
    """A worker holds the stream."""

    type: ClassVar[str] = "lease.acquired"

    holder: Id = Field(description="the worker")
    fence: Ordinal = Field(description="version of the event that took the lease")
    lease_s: Span = Field(description="how long, from the broker's time of the event")


class LeaseRenewed(Event):
    """The holder goes on."""

    type: ClassVar[str] = "lease.renewed"

    fence: Ordinal


class LeaseReleased(Event):
    """The holder is done."""

    type: ClassVar[str] = "lease.released"

    fence: Ordinal


class CheckpointSaved(Event):
    """An agent saved its state, in the event or as an artifact."""

    type: ClassVar[str] = "checkpoint.saved"
    one_of: ClassVar[tuple[str, ...]] = ("state", "artifact")

    checkpoint_id: Id
    label: Text | None = None
    state_schema_version: Ordinal = Field(
        alias="schema_version", description="of the agent's state"
    )
    state: Any = None
    artifact: Id | None = None


class CheckpointRestored(Event):
    """An agent went back to a saved state."""

    type: ClassVar[str] = "checkpoint.restored"

    checkpoint_id: Id
