"""What is known of an entity: facts as readers get them, and where they are read from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from agentjournal.events import Entity, Evidence
from agentjournal.ids import StreamId, Version
from agentjournal.memory.facts import Ending, holds


@dataclass(frozen=True, slots=True)
class Fact:
    """A value that an entity's attribute has, or had, and where that comes from.

    It is true from `valid_from` on, until before `valid_to` where that is known. `ended_by` says
    why it ended: its end was `said`, a newer value `superseded` it, it was `retracted`, or it was
    `outranked` by what somebody of a higher rank had said. `evidence` are the events that say it,
    none where it was remembered outside of sessions; `fact_ids` are the ids under which it was
    learned, the first in front. `version` is that of its first event in the entity's stream, and
    `recorded_at` and `confirmed_at` when it was recorded first and last.
    """

    entity: Entity
    fact_id: str
    kind: str
    attribute: str
    value: Any
    cardinality: str
    quote: str
    author_role: str
    confidence: float
    valid_from: datetime
    valid_to: datetime | None
    ended_by: Ending | None
    retracted_at: datetime | None
    evidence: tuple[Evidence, ...]
    fact_ids: tuple[str, ...]
    extractor: str
    version: Version
    recorded_at: datetime
    confirmed_at: datetime

    def holds(self, as_of: datetime) -> bool:
        """Whether it is true at a moment, and to be believed."""
        return holds(self.valid_from, self.valid_to, self.ended_by, as_of)


@dataclass(frozen=True, slots=True)
class EntityState:
    """What is known of an entity, like a user, at `version` of its stream: the facts that hold."""

    stream: StreamId
    version: Version = Version(0)
    facts: Mapping[str, Fact] = field(default_factory=dict[str, Fact])
    """By their ids, in the order of their attributes and then of when they were said."""


@dataclass(frozen=True, slots=True)
class Known:
    """All facts of an entity, those that ended among them, and the version that they are read at.

    More may be in `facts` than in `version`, never less.
    """

    version: Version
    facts: Sequence[Fact]


class KnownFacts(Protocol):
    """The read model of facts."""

    async def known(self, entity: StreamId, known_at: datetime | None) -> Known:
        """Return all facts as they were known at a moment, None: as they are known now.

        Raises StreamParked, Unavailable.
        """
        ...


def holding(facts: Iterable[Fact], as_of: datetime | None, now: datetime) -> list[Fact]:
    """Return the facts that hold at a moment, None: now.

    The clock that says `now` may be behind the broker's: now is never before what was recorded.
    """
    facts = list(facts)
    if as_of is None:
        as_of = max([now, *(fact.confirmed_at for fact in facts)])
    return [fact for fact in facts if fact.holds(as_of)]
