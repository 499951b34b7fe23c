"""When the projector folds a poll, and when it stores it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from agentjournal.envelope import Recorded
from agentjournal.ids import Partition, Position
from consumers.metrics_readers import ReaderMetrics
from consumers.projector import FoldedBatch, Polled, Projector, ProjectorOptions, ProjectorPorts
from consumers.rebuilding import Builders
from consumers.watch import Watch
from projections.events import EVENTS_PROJECTION
from projections.folding import Place, PoisonError, ProjectionFold
from projections.projection import Context, Projection
from streams.ports import OutageError
from tests.support import Stream, request, said

OPTIONS = ProjectorOptions(heartbeat_s=60, outage_pause_s=0)
STREAM = Stream()
for _ in range(4):
    STREAM.accept(request(said("a")))
LOG = [e._replace(position=Position(at)) for at, e in enumerate(STREAM.recorded)]


@dataclass
class Events:
    """A log that gives one event a poll, and stops its reader at its end."""

    stop: asyncio.Event
    at: int = 0

    def assign(self, places: Mapping[Partition, Position]) -> None:
        self.at = places.get(STREAM.partition, 0)

    async def poll(self, *, timeout_s: float) -> Polled:
        assert timeout_s > 0
        if self.at == len(LOG):
            self.stop.set()
            return {}
        self.at += 1
        return {STREAM.partition: [LOG[self.at - 1]]}

    async def check(self, partition: Partition, position: Position, hash_before: str) -> None:
        """Nobody changed it."""


@dataclass
class Models:
    """Read models that note in which order they are asked; their first transaction is lost."""

    done: list[str] = field(default_factory=list[str])
    stored: list[Recorded] = field(default_factory=list[Recorded])
    is_away: bool = True

    async def register(self, projections: Sequence[Projection]) -> Sequence[Projection]:
        return projections

    async def load_places(self, fold: ProjectionFold, partitions: Sequence[Partition]) -> None:
        fold.places.update(dict.fromkeys(partitions, Place(Position(0), (-1, -1), "")))
        if self.stored:
            last = self.stored[-1]
            fold.places[STREAM.partition] = Place(
                Position(last.position + 1), last.order, last.hash
            )

    async def load_contexts(self, fold: ProjectionFold, polled: Polled) -> None:
        missing = fold.missing([each for batch in polled.values() for each in batch])
        fold.put(missing, {e.stream: Context(e.version, e.hash) for e in self.stored})

    async def fold(self, folds: Sequence[ProjectionFold], polled: Polled) -> Sequence[FoldedBatch]:
        self.done.append(f"fold {polled[STREAM.partition][0].version}")
        return [FoldedBatch(each, dict(each.places), each.fold(polled)) for each in folds]

    async def store(self, batches: Sequence[FoldedBatch]) -> None:
        [place] = batches[0].folded.places.values()
        event = LOG[place.next_position - 1]
        if self.is_away:
            self.is_away = False
            raise OutageError("away")
        for _ in range(5):
            await asyncio.sleep(0)
        self.stored.append(event)
        self.done.append(f"store {event.version}")

    async def replay(self, folds: Sequence[ProjectionFold], polled: Polled) -> None:
        raise AssertionError((folds, polled))


async def test_a_projector_that_started_over_stores_a_poll_before_it_folds_the_next() -> None:
    stop, models = asyncio.Event(), Models()
    ports = ProjectorPorts(Events(stop), models, Builders())
    async with asyncio.timeout(10):
        await Projector(ports, [EVENTS_PROJECTION], OPTIONS).run(stop)
    lost, after = models.done[:2], models.done[2:]
    assert lost == ["fold 1", "fold 2"]
    # From the second on a poll is folded while the one before it is being stored.
    assert after == [
        *("fold 1", "store 1", "fold 2", "fold 3", "store 2", "fold 4", "store 3", "store 4"),
    ]
    assert models.stored == LOG


async def test_a_poll_that_is_replayed_at_once_took_as_long_as_since_it_was_read() -> None:
    class Poisoned(Models):
        async def fold(
            self, folds: Sequence[ProjectionFold], polled: Polled
        ) -> Sequence[FoldedBatch]:
            assert folds
            raise PoisonError(polled[STREAM.partition][0])

        async def replay(self, folds: Sequence[ProjectionFold], polled: Polled) -> None:
            assert folds
            self.stored += polled[STREAM.partition]

    stop, models, watch = asyncio.Event(), Poisoned(), Watch("projector")
    ports = ProjectorPorts(Events(stop), models, Builders(), seen=ReaderMetrics(watch))
    async with asyncio.timeout(10):
        await Projector(ports, [EVENTS_PROJECTION], OPTIONS).run(stop)
    assert models.stored == LOG
    sample, labels = watch.metrics.registry.get_sample_value, {"role": "projector"}
    assert sample("agentjournal_batch_seconds_count", labels) == len(LOG)
    took_s = sample("agentjournal_batch_seconds_sum", labels)
    assert took_s is not None
    assert took_s < 10


async def test_what_is_being_stored_when_a_projector_ends_is_given_up() -> None:
    models = Models(is_away=False)

    class Broken(Events):
        async def poll(self, *, timeout_s: float) -> Polled:
            if self.at:
                raise RuntimeError("the log is broken")
            return await super().poll(timeout_s=timeout_s)

    stop = asyncio.Event()
    ports = ProjectorPorts(Broken(stop), models, Builders())
    with pytest.raises(RuntimeError, match="the log is broken"):
        await Projector(ports, [EVENTS_PROJECTION], OPTIONS).run(stop)
    for _ in range(10):
        await asyncio.sleep(0)
    assert (models.done, models.stored) == (["fold 1"], [])
