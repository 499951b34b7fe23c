"""Promotion: from what an extractor makes of a session to what is appended, the same every time.

Pure. What is learned goes to the streams of entities, and nothing of it depends on their versions:
promotions commute, and none waits for another. Last comes `promotion.completed` in the session's
stream. Ids follow from what was said, so whoever promotes again, after a crash or at the same time,
asks for the same; where the log no longer knows an append id, the first fact with an id counts.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agentjournal.events import (
    Entity,
    Event,
    Extractor,
    FactLearned,
    FactRetracted,
    PromotionCompleted,
    RefusedFacts,
)
from agentjournal.ids import StreamId, parse_stream
from agentjournal.memory.candidates import Refused
from agentjournal.memory.entity_reading import EntityReading
from agentjournal.memory.fact_counts import Counts, counts_of
from agentjournal.memory.fact_events import version_order
from agentjournal.memory.facts import Learned
from agentjournal.memory.session_reading import Reading
from agentjournal.memory.wanting import FactEvent, Wanted

MAX_BATCH = 200  # facts an append
MAX_BATCH_BYTES = 600_000  # of facts: with all that is written around them an append has room
MAX_SUMMARY = 2_000  # characters


class PromotedFact(NamedTuple):
    """A fact, and whom it is about."""

    entity: Entity
    fact: FactLearned


@dataclass(frozen=True, slots=True)
class Promotion:
    """What was made of a session.

    `said` are all facts that it says. Of those that no earlier promotion of it has read, `learned`
    are new, `confirmed` were known before, and `superseded` hold no longer because of them, all as
    they were learned first. `retracted` is what it asked to forget. `repeated`: nothing was said
    since it was promoted last; then only `completed` is given, as it stands in the log.
    """

    session_id: str
    completed: PromotionCompleted
    said: Sequence[PromotedFact] = ()
    learned: Sequence[PromotedFact] = ()
    confirmed: Sequence[PromotedFact] = ()
    superseded: Sequence[PromotedFact] = ()
    retracted: Sequence[tuple[Entity, FactRetracted]] = ()
    refused: Sequence[Refused] = ()
    repeated: bool = False

    @property
    def through_version(self) -> int:
        """Up to which version the session was read."""
        return self.completed.through_version

    @property
    def extractor(self) -> Extractor:
        """What read it."""
        return self.completed.extractor


@dataclass(frozen=True, slots=True)
class Batch:
    """Events to be appended to a stream at once, under an id that they always get."""

    stream: StreamId
    append_id: str
    events: Sequence[Event]


def batches_of(
    wanted: Wanted, known: Mapping[StreamId, EntityReading], extractor: Extractor
) -> list[Batch]:
    """Return what is to be appended to entities' streams: what they do not say yet.

    What an older version of the extractor learned is learned again, or it would be hidden.
    """
    found: list[Batch] = []
    for stream, events in wanted.of_entity.items():
        seen = known[stream]
        new = [each for each in events if not seen.says(each, extractor)]
        found += [Batch(stream, _append_id(extractor, part), part) for part in _parts(new)]
    return found


def _parts(events: Sequence[FactEvent]) -> Iterator[Sequence[FactEvent]]:
    part: list[FactEvent] = []
    size = 0
    for event in events:
        own = len(event.encoded())
        if part and (len(part) == MAX_BATCH or size + own > MAX_BATCH_BYTES):
            yield part
            part, size = [], 0
        part.append(event)
        size += own
    if part:
        yield part


def _append_id(extractor: Extractor, events: Sequence[FactEvent]) -> str:
    """Return an id that the same facts always have: who promotes again appends a duplicate."""
    digest = hashlib.sha256(f"{extractor.name}\0{extractor.version}".encode())
    for event in events:
        digest.update(event.encoded())
    return f"promote-{digest.hexdigest()}"


def promotion_of(
    reading: Reading,
    wanted: Wanted,
    known: Mapping[StreamId, EntityReading],
    extractor: Extractor,
    summary: str | None,
) -> Promotion:
    """Return what comes of a session, counted so that it is the same after a crash.

    Facts of its own are none that were known before, but those that an earlier promotion had read.
    """
    counts = [
        _counted(stream, events, known[stream], reading, extractor)
        for stream, events in wanted.of_entity.items()
    ]
    learned, confirmed, superseded = (
        [PromotedFact(entity, fact) for entity, each in counts for fact in each[place]]
        for place in range(3)
    )
    completed = PromotionCompleted(
        through_version=reading.through,
        extractor=extractor,
        learned=len(learned),
        confirmed=len(confirmed),
        superseded=len(superseded),
        refused=_tallied(wanted.refused),
        summary=None if summary is None else summary[:MAX_SUMMARY],
    )
    events = [(_entity_of(stream), each) for stream, of in wanted.of_entity.items() for each in of]
    said = [PromotedFact(who, each) for who, each in events if isinstance(each, FactLearned)]
    retracted = [(who, each) for who, each in events if isinstance(each, FactRetracted)]
    changes = learned, confirmed, superseded
    return Promotion(reading.session_id, completed, said, *changes, retracted, wanted.refused)


def _counted(
    stream: StreamId,
    events: Sequence[FactEvent],
    known: EntityReading,
    reading: Reading,
    extractor: Extractor,
) -> tuple[Entity, Counts]:
    order = version_order(extractor.version)

    def is_of_before(fact: Learned) -> bool:
        if (fact.session_id, fact.extractor) != (reading.session_id, extractor.name):
            return True
        return fact.extractor_order == order and fact.said_version <= reading.promoted

    return _entity_of(stream), counts_of(events, known.facts, known.retractions, is_of_before)


def _tallied(refused: Sequence[Refused]) -> list[RefusedFacts]:
    counted = Counter(each.reason for each in refused)
    return [RefusedFacts(reason=reason, count=counted[reason]) for reason in sorted(counted)]


def _entity_of(stream: StreamId) -> Entity:
    kind, _, name = parse_stream(stream)
    return Entity.model_validate({"kind": kind, "id": name})


def completed_batch(stream: StreamId, completed: PromotionCompleted) -> Batch:
    """Return what tells that a session was promoted, under an id that only this can have.

    Who counts otherwise, since others learned of the same entities meanwhile, is refused: it has
    been promoted then.
    """
    by = completed.extractor
    named = f"{by.name}\0{by.version}\0{completed.through_version}"
    return Batch(stream, f"promoted-{hashlib.sha256(named.encode()).hexdigest()}", (completed,))
