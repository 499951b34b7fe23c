"""Long-term memory: facts, where they come from, and what was made of a session."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from agentjournal.events.base import Event, Record
from agentjournal.events.fields import Count, Id, Ordinal, Share, Text, Time


class Evidence(Record):
    """An event that says so."""

    session_id: Id
    event_id: Id
    version: Ordinal


class Extractor(Record):
    """What read the session."""

    name: Id
    version: Id


class FactLearned(Event):
    """Something worth keeping was said, by whom, when and where; what holds now is computed."""

    type: ClassVar[str] = "fact.learned"

    fact_id: Id = Field(description="the first fact with it wins")
    kind: Id = Field(description="like preference, identifier or outcome")
    attribute: Id = Field(description="the slot that the value is for")
    value: Any
    cardinality: Literal["single", "multiple"] = Field(
        description="how many values the slot holds at once"
    )
    quote: Text = Field(description="verbatim, from the evidence")
    evidence: list[Evidence]
    author_role: Literal["system", "developer", "user", "assistant", "tool"] = Field(
        description="who said it: sources are ranked"
    )
    confidence: Share
    valid_from: Time
    valid_to: Time | None = None
    said_at: Time | None = Field(
        default=None, description="when it was said, where `valid_from` is a date that it names"
    )
    supersedes: Id | None = Field(default=None, description="the fact that it was meant to replace")
    extractor: Extractor


class FactRetracted(Event):
    """A fact is not to be believed; or, with `attribute`, what was said for a slot before."""

    type: ClassVar[str] = "fact.retracted"

    fact_id: Id = Field(description="the fact; with `attribute` an id of this retraction")
    reason: Text
    by: Id
    attribute: Id | None = Field(
        default=None, description="all that was said for the slot before, whenever it is learned"
    )
    value: Any = Field(default=None, description="with `attribute`: of this value alone")
    said_at: Time | None = Field(default=None, description="with `attribute`: when it was said")
    evidence: list[Evidence] | None = Field(default=None, description="where it was said")


class MemoryRecalled(Event):
    """Facts and messages were looked up and shown; they are never learned from again."""

    type: ClassVar[str] = "memory.recalled"

    query: Text | None = None
    fact_ids: list[Id] = Field(default_factory=list[str])
    event_ids: list[Id] = Field(default_factory=list[str])
    tokens: Count = Field(description="of what was shown")


class RefusedFacts(Record):
    """How many facts were not kept, and why."""

    reason: Text
    count: Count


class PromotionCompleted(Event):
    """A session was read up to a version, and its facts were kept."""

    type: ClassVar[str] = "promotion.completed"

    through_version: Count
    extractor: Extractor
    learned: Count = Field(description="new facts")
    confirmed: Count = Field(description="facts that were known")
    superseded: Count = Field(description="facts that no longer hold")
    refused: list[RefusedFacts] = Field(default_factory=list[RefusedFacts])
    summary: Text | None = None
