"""Sessions and their turns."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from agentjournal.events.base import Event, Record
from agentjournal.events.failure import Failure
from agentjournal.events.fields import Count, Id, Integer, Ordinal, Span, Text, Time
from agentjournal.ids import new_event_id


class Entity(Record):
    """Whom or what a session is about; facts learned in it go to this entity's stream."""

    kind: Literal["user", "account", "project"]
    id: Id


class Parent(Record):
    """Where a session comes from."""

    session_id: Id
    version: Ordinal = Field(description="of the parent, at which this session left it")
    relation: Literal["handoff", "fork", "continuation"]


class Limit(Record):
    """How much there may be of something, and what happens beyond it."""

    maximum: Count
    policy: Literal["warn", "refuse"] = Field(
        default="warn", description="whether what would go beyond it is refused, or only reported"
    )


class Limits(Record):
    """The limits of a session that are not those of its tenant."""

    tokens: Limit | None = Field(default=None, description="of all events, as the writers state")
    events: Limit | None = None
    bytes: Limit | None = Field(default=None, description="of the data of all events")
    age_s: Limit | None = Field(default=None, description="since the session began")
    artifact_bytes: Limit | None = Field(default=None, description="of all artifacts together")
    snapshot_bytes: Limit | None = Field(default=None, description="of the largest snapshot")
    packages: Limit | None = Field(default=None, description="in the environment")
    note_bytes: Limit | None = Field(default=None, description="of all notes that are kept")
    plan_bytes: Limit | None = Field(default=None, description="of the largest plan")
    fact_bytes: Limit | None = Field(default=None, description="of what is known of the user")
    open_sessions: Limit | None = Field(default=None, description="of the session's user")


class SessionStarted(Event):
    """A session began. It goes along with the first append of every handle."""

    type: ClassVar[str] = "session.started"

    user: Id | None = Field(default=None, description="whom the session belongs to")
    agent: Id = Field(description="name of the program that works on it")
    title: Text | None = None
    labels: dict[str, Any] = Field(default_factory=dict, description="whatever helps to find it")
    entities: list[Entity] = Field(
        default_factory=list[Entity], description="whose memory it reads and adds to"
    )
    task_id: Id | None = Field(default=None, description="the work that outlives the session")
    parent: Parent | None = Field(default=None, description="the session that it comes from")
    ttl_s: Span | None = Field(
        default=None, description="idle time after which the session expires"
    )
    limits: Limits | None = Field(default=None, description="that are not those of the tenant")
    app_version: Id | None = Field(default=None, description="of the program")


class SessionUpdated(Event):
    """What is known of a session changed; fields that are absent stay as they were."""

    type: ClassVar[str] = "session.updated"

    title: Text | None = None
    labels: dict[str, Any] | None = Field(default=None, description="replaces all labels")
    entities: list[Entity] | None = Field(default=None, description="replaces all entities")
    ttl_s: Span | None = Field(
        default=None, description="idle time after which the session expires"
    )
    limits: Limits | None = Field(
        default=None, description="each that is named replaces the one of its name"
    )


class SessionEnded(Event):
    """The session is over."""

    type: ClassVar[str] = "session.ended"

    reason: Text | None = None


class SessionExpired(Event):
    """The session was idle for longer than it may be. Nothing of it is deleted."""

    type: ClassVar[str] = "session.expired"

    idle_s: Span = Field(description="idle time after which it may expire, which had passed")


class SessionResumed(Event):
    """A worker took the session up again."""

    type: ClassVar[str] = "session.resumed"

    worker: Id | None = None


class SessionDeleted(Event):
    """The session takes no more events, ever; memory and recall have nothing of it any more.

    Its events stay in the log, and `load` shows them.
    """

    type: ClassVar[str] = "session.deleted"

    reason: Text


class TurnStarted(Event):
    """The agent began to work on something."""

    type: ClassVar[str] = "turn.started"

    turn_id: Id = Field(default_factory=new_event_id)
    trigger: Literal["user", "schedule", "approval", "handoff", "resume"] = Field(
        description="what made it begin"
    )
    input_versions: list[Integer] = Field(
        default_factory=list[int], description="the events that it answers"
    )


class TurnEnded(Event):
    """The agent is done with the turn, or waits for somebody."""

    type: ClassVar[str] = "turn.ended"

    turn_id: Id
    reason: Literal["completed", "interrupted", "failed", "waiting", "limit"]
    error: Failure | None = None
    resume_at: Time | None = Field(default=None, description="when a worker should go on")
