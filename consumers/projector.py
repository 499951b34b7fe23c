"""The projector: folds what a poll brings into all read models, in one transaction a poll.

Rows and checkpoints change together, and checkpoints move by compare-and-set: so every event counts
exactly once, whoever dies and however often records are read.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

import structlog

from agentjournal.envelope import Recorded
from agentjournal.ids import Partition, Position
from agentjournal.partitions import PARTITIONS
from consumers.metrics_readers import ReaderMetrics
from consumers.ownership import Membership, share_of
from consumers.tracing import Traces, untraced
from consumers.watch import Watch
from projections.folding import Folded, Place, PoisonError, ProjectionFold
from projections.projection import Projection
from streams.ports import OutageError

_LOG = structlog.get_logger()

FAULT_POINTS = ("polled", "loaded", "folded", "begun", "rows", "written", "committed")

Polled: TypeAlias = Mapping[Partition, Sequence[Recorded]]


class FoldedBatch(NamedTuple):
    """What one projection makes of a poll, and the places that it was folded from."""

    fold: ProjectionFold
    before: Mapping[Partition, Place]
    folded: Folded


class EventsReader(Protocol):
    """Reads the canonical log by partition and position."""

    def assign(self, places: Mapping[Partition, Position]) -> None: ...
    async def poll(self, *, timeout_s: float) -> Polled: ...
    async def check(self, partition: Partition, position: Position, hash_before: str) -> None: ...


class ReadModels(Protocol):
    """Stores what projections fold."""

    async def register(self, projections: Sequence[Projection]) -> Sequence[Projection]: ...
    async def load_places(self, fold: ProjectionFold, partitions: Sequence[Partition]) -> None: ...
    async def load_contexts(self, fold: ProjectionFold, polled: Polled) -> None: ...
    async def fold(
        self, folds: Sequence[ProjectionFold], polled: Polled
    ) -> Sequence[FoldedBatch]: ...
    async def store(self, batches: Sequence[FoldedBatch]) -> None: ...
    async def replay(self, folds: Sequence[ProjectionFold], polled: Polled) -> None: ...


class PoisonedBatchError(Exception):
    """The database refused a row: the batch is to be replayed in pieces to find which."""


@dataclass(frozen=True, slots=True)
class ProjectorOptions:
    """How the projector paces itself."""

    poll_s: float = 0.1
    heartbeat_s: float = 1.0
    outage_pause_s: float = 0.5
    most_contexts: int = 50_000
    most_parked: int = 1_000  # beyond it is a bad release, not bad data


@dataclass(frozen=True, slots=True)
class ProjectorPorts:
    """What the projector reads and writes."""

    events: EventsReader
    models: ReadModels
    membership: Membership
    traces: Traces[Recorded, Sequence[FoldedBatch]] = untraced
    seen: ReaderMetrics = field(default_factory=lambda: ReaderMetrics(Watch("projector")))


class StartOverError(Exception):
    """What is in memory may be wrong: drop it, and read the checkpoints again."""


class TooManyParkedError(Exception):
    """So many streams cannot be a matter of their data: look at the release."""


class Projector:
    """Keeps projections up to date over the partitions that are this member's share."""

    def __init__(
        self,
        ports: ProjectorPorts,
        projections: Sequence[Projection],
        options: ProjectorOptions | None = None,
        fault: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._ports = ports
        self._projections = projections
        self._folds: list[ProjectionFold] = []
        self._options = options or ProjectorOptions()
        self._fault = fault
        self._share: set[Partition] = set()
        self._storing: asyncio.Task[None] | None = None
        self._in_store: Polled = {}
        self._read_s = 0.0  # when the last poll was read
        # After an outage a poll is stored before the next is folded, until one is: a fold that took
        # longer than Postgres lets a transaction idle would else start over again and again.
        self._one_by_one = False
        self._last_heartbeat = 0.0
        ports.seen.watch.unsaved = self.unsaved
        ports.seen.watch.sampled(lambda: ports.seen.sample_folds(self._folds))

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set. Raises IntegrityError when the log forks or was replaced."""
        try:
            await self._work(stop)
        finally:
            await self._abandon()

    def unsaved(self) -> Mapping[str, object]:
        """Return what the next owner of the partitions reads again."""
        return {
            "partitions": sorted(self._share),
            "events": 0 if self._storing is None else sum(map(len, self._in_store.values())),
        }

    async def _work(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                if not self._folds:
                    registered = await self._ports.models.register(self._projections)
                    self._folds = [ProjectionFold(projection) for projection in registered]
                await self._turn()
            except (OutageError, StartOverError) as trouble:
                _LOG.warning("starting_over", reason=str(trouble), kind=type(trouble).__name__)
                self._ports.seen.starts_over(trouble)
                await self._forget()
                self._folds = []  # another generation may be live by now
                self._one_by_one = True
                await asyncio.sleep(self._options.outage_pause_s)
        await self._leave()

    async def _turn(self) -> None:
        await self._follow_membership()
        if not self._share:
            await asyncio.sleep(self._options.poll_s)
            return
        polled = await self._ports.events.poll(timeout_s=self._options.poll_s)
        self._read_s = time.monotonic()
        self._fault("polled")
        if not polled:
            if self._storing is not None and self._storing.done():
                await self._stored()
            return
        finishing = self._ports.traces(polled)
        # Postgres stores the last poll while this one is read, verified and folded.
        batches = await self._folded(polled)
        if not await self._stored():
            batches = await self._folded(polled)  # the last one was replayed: fold on top of that
        if batches is not None:
            self._storing = asyncio.create_task(finishing(batches, self._ports.models.store))
            self._in_store, self._ports.seen.read_s = polled, self._read_s
            # What was folded is on its way before the next poll is waited for.
            await asyncio.sleep(0)
            if self._one_by_one and await self._stored():
                self._one_by_one = False
        self._trim(polled)

    async def _folded(self, polled: Polled) -> Sequence[FoldedBatch] | None:
        """Fold a poll; None when it had to be replayed instead."""
        try:
            for fold in self._folds:
                await self._ports.models.load_contexts(fold, polled)
        except StartOverError:
            if self._storing is None:
                raise
            # The last poll is not stored yet, or was refused: that is no other owner.
            await self._stored()
            return await self._folded(polled)
        self._fault("loaded")
        try:
            return await self._ports.models.fold(self._folds, polled)
        except PoisonError as poison:
            await self._stored()
            self._ports.seen.read_s = self._read_s
            await self._replay(polled, poison)
            return None

    async def _stored(self) -> bool:
        """Wait for the poll that is being stored; False when it had to be replayed."""
        storing, self._storing = self._storing, None
        if storing is None:
            return True
        try:
            await storing
        except PoisonedBatchError as poison:
            await self._replay(self._in_store, poison)
            return False
        self._ports.seen.stored(self._in_store)
        return True

    async def _replay(self, polled: Polled, poison: Exception) -> None:
        # By its kind only: what a fold or Postgres says of a value may quote it.
        _LOG.warning("batch_replayed", kind=type(poison.__cause__).__name__)
        for fold in self._folds:
            fold.forget()
            await self._ports.models.load_places(fold, sorted(self._share))
        await self._ports.models.replay(self._folds, polled)
        self._ports.seen.stored(polled)
        most = self._options.most_parked
        for fold in self._folds:
            if len(fold.parked) > most:
                raise TooManyParkedError(f"{fold.projection.name}: more than {most} streams parked")

    def _trim(self, in_store: Polled) -> None:
        for fold in self._folds:
            if len(fold.contexts) > self._options.most_contexts:
                fold.keep_contexts(recorded for batch in in_store.values() for recorded in batch)

    async def _follow_membership(self) -> None:
        now = time.monotonic()
        if now - self._last_heartbeat < self._options.heartbeat_s:
            return
        self._last_heartbeat = now
        membership = self._ports.membership
        share = share_of(membership.member, await membership.heartbeat(), PARTITIONS)
        if share != self._share:
            await self._stored()
            await self._take(share)
        self._ports.seen.owns(len(share))

    async def _take(self, share: set[Partition]) -> None:
        await self._forget()
        for fold in self._folds:
            await self._ports.models.load_places(fold, sorted(share))
        for partition, position, found in self._places():
            await self._ports.events.check(partition, position, found)
        starts = {
            partition: min(fold.places[partition].next_position for fold in self._folds)
            for partition in share
        }
        self._ports.events.assign(starts)
        self._share = share
        _LOG.info("partitions_taken", partitions=sorted(share))

    def _places(self) -> Iterable[tuple[Partition, Position, str]]:
        """Return each place that a projection goes on from, once, with the hash before it."""
        return sorted(
            {
                (partition, place.next_position, place.hash)
                for fold in self._folds
                for partition, place in fold.places.items()
            }
        )

    async def _abandon(self) -> None:
        """Stop storing: what is not waited for any more is not stored either."""
        storing, self._storing = self._storing, None
        if storing is not None:
            storing.cancel()
            await asyncio.gather(storing, return_exceptions=True)

    async def _forget(self) -> None:
        await self._abandon()
        self._share = set()
        self._last_heartbeat = 0.0
        for fold in self._folds:
            fold.forget()
        self._ports.events.assign({})

    async def _leave(self) -> None:
        try:
            await self._stored()
            await self._ports.membership.leave()
        except (OutageError, StartOverError) as trouble:
            _LOG.warning("left_without_word", reason=str(trouble))
