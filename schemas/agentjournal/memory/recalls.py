"""What recall finds, and what it needs from the outside."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from agentjournal.ids import StreamId, Version

Tier: TypeAlias = Literal["fact", "summary", "message"]
Event: TypeAlias = tuple[StreamId, Version]
PlaceOfPassage: TypeAlias = tuple[str, int, int]
Texts: TypeAlias = Mapping[Event, Sequence[str]]  # the passages of events, in their order


@dataclass(frozen=True, slots=True)
class Asked:
    """A query about an entity, as it is looked for."""

    entity: StreamId
    terms: Sequence[str]
    # It may still be made, and may be awaited again; None: only words are looked for.
    vector: Awaitable[Sequence[float]] | None = None
    model: str = ""  # that made the vector
    most: int = 100  # candidates of each measure
    without: StreamId | None = None  # a session that is told nothing of what it says itself

    def further(self) -> Asked:
        """Return the query as it is asked again, for more candidates."""
        return replace(self, most=4 * self.most)


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that may answer: `lexical` is BM25, `likeness` the cosine, None without one."""

    stream: StreamId
    version: Version
    number: int
    tier: Tier
    role: str
    ref: str  # the id of the message or of the fact
    event_id: str
    text: str
    said_at: datetime
    lexical: float = 0.0
    likeness: float | None = None

    @property
    def place(self) -> PlaceOfPassage:
        """Where it is, which no other passage has."""
        return self.stream, self.version, self.number

    @property
    def event(self) -> Event:
        """The event that it is in, maybe beside others: the sentences of a message are."""
        return self.stream, self.version


def holding(hits: Iterable[Hit], facts: Mapping[str, str]) -> list[Hit]:
    """Return the hits without facts that do not hold; `facts` has the first id of each that does.

    What was said twice is one fact.
    """
    kept = [hit for hit in hits if hit.tier != "fact" or hit.ref in facts]
    return [replace(hit, ref=facts[hit.ref]) if hit.tier == "fact" else hit for hit in kept]


def told(asked: Asked, hits: Iterable[Hit]) -> list[Hit]:
    """Return the hits without those of the session that is told nothing of itself."""
    return [hit for hit in hits if hit.stream != asked.without]


def is_enough(asked: Asked, found: int, kept: int) -> bool:
    """Whether candidates need not be looked for further: most are kept, or there are no more.

    What was said of a slot again and again would else leave no room for what is said there now, and
    a long session none for the others.
    """
    return found < asked.most or 2 * kept >= found


class Recalls(Protocol):
    """Finds passages of one entity, and of no other."""

    async def can_compare(self) -> bool:
        """Return whether there may be vectors to compare one of a query with."""
        ...

    async def find(self, asked: Asked) -> Sequence[Hit]:
        """Return the candidates, without facts that do not hold. Raises Unavailable."""
        ...

    async def texts(self, entities: Sequence[StreamId], events: Collection[Event]) -> Texts:
        """Return all passages of those events that are about one of the entities.

        Raises Unavailable.
        """
        ...


@dataclass(frozen=True, slots=True)
class Source:
    """Where it was said: an event of a session, or of the entity's own stream."""

    stream: StreamId
    version: Version
    event_id: str


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was found: a fact, or sentences of a session's summary or of a message, word for word.

    `score` is between 0 and 1, and says how near it is to the query beside what else was found.
    """

    kind: Tier
    text: str
    score: float
    said_at: datetime
    source: Source
    role: str
    fact_id: str | None = None
    message_id: str | None = None
    tokens: int | None = None  # None: not counted, since there was no budget
