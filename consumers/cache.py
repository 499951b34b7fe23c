"""The cache: folds notes as they are recorded into Redis, one hash a session.

It never folds into a hash that is not there: readers fill it from the read models. So nothing of
the past is needed, and where Redis lost its place it goes on at the end of the log.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import structlog

from agentjournal.envelope import Recorded
from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position, StreamId, Version
from agentjournal.partitions import PARTITIONS
from agentjournal.working_memory import Note
from consumers.metrics_readers import ReaderMetrics, ReadTo
from consumers.ownership import Membership, share_of
from consumers.projector import EventsReader
from consumers.watch import Watch
from streams.ports import OutageError

_LOG = structlog.get_logger()
# When notes vanish, or those that were there before come back: they are read from Postgres then.
_ALL_NOTES = frozenset({"session.ended", "session.expired", "session.deleted", "session.resumed"})


class Change(NamedTuple):
    """What an event does to the notes of a session."""

    stream: StreamId
    version: Version
    key: str | None  # None: all of them
    note: Note | None  # None: it is deleted


class Advance(NamedTuple):
    """What a poll of one partition comes to."""

    from_position: Position
    next_position: Position
    input_position: Position  # of the last append that is in it
    hash: str  # of the record before next_position
    changes: Sequence[Change]


class CachePlace(NamedTuple):
    """How far the cache is in a partition, as Redis knows it."""

    next_position: Position
    hash: str  # of the record before it; empty: not known
    generation: str


class CacheReader(EventsReader, Protocol):
    """The canonical log, and where its last record is."""

    async def last(self, partition: Partition) -> Position: ...


class CacheStore(Protocol):
    """Holds notes and places; it may lose everything."""

    async def place(self, partition: Partition) -> CachePlace | None: ...
    async def begin(
        self, partition: Partition, position: Position, *, instead_of: CachePlace | None
    ) -> bool: ...
    async def advance(self, partition: Partition, advance: Advance) -> int | None: ...
    async def lookups(self, partition: Partition) -> Mapping[str, int]: ...


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """How the cache paces itself."""

    poll_s: float = 0.1
    heartbeat_s: float = 1.0
    outage_pause_s: float = 0.5


@dataclass(frozen=True, slots=True)
class CachePorts:
    """What the cache reads and writes."""

    events: CacheReader
    store: CacheStore
    membership: Membership
    seen: ReaderMetrics = field(default_factory=lambda: ReaderMetrics(Watch("cache")))


def changes_of(events: Sequence[Recorded]) -> Iterator[Change]:
    """Yield what events do to notes of sessions, in their order."""
    for recorded in events:
        if not recorded.stream.startswith("session/"):
            continue
        stream, version = recorded.stream, recorded.version
        if recorded.type == "note.set":
            note = Note(recorded.recorded_at, recorded.raw_data)
            yield Change(stream, version, recorded.data["key"], note)
        elif recorded.type == "note.deleted":
            yield Change(stream, version, recorded.data["key"], None)
        elif recorded.type in _ALL_NOTES:
            yield Change(stream, version, None, None)


def advance_of(from_position: Position, events: Sequence[Recorded]) -> Advance:
    """Return what the events read from a position on come to; there is at least one."""
    return Advance(
        from_position=from_position,
        next_position=Position(events[-1].position + 1),
        input_position=max(recorded.input_position for recorded in events),
        hash=events[-1].hash,
        changes=list(changes_of(events)),
    )


class PlaceMovedError(Exception):
    """Redis is not where this member left it: take the partitions again from where it is."""


class Cache:
    """Keeps the notes in Redis up to date over the partitions that are this member's share.

    Two members that both take a partition for theirs do no harm.
    """

    def __init__(self, ports: CachePorts, options: CacheOptions | None = None) -> None:
        self._ports, self._options = ports, options or CacheOptions()
        self._places: dict[Partition, Position] = {}
        self._recorded_at: dict[Partition, str] = {}  # of the last event that is in Redis
        ports.seen.watch.sampled(self._sample)
        self._last_heartbeat = 0.0

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set. Raises IntegrityError when the log was replaced meanwhile."""
        while not stop.is_set():
            try:
                await self._turn()
            except (OutageError, PlaceMovedError) as trouble:
                _LOG.warning("starting_over", reason=str(trouble), kind=type(trouble).__name__)
                self._ports.seen.starts_over(trouble)
                self._places = {}
                self._last_heartbeat = 0.0
                self._ports.events.assign({})
                await asyncio.sleep(self._options.outage_pause_s)
        try:
            await self._ports.membership.leave()
        except OutageError as trouble:
            _LOG.warning("left_without_word", reason=str(trouble))

    async def _turn(self) -> None:
        await self._follow_membership()
        if not self._places:
            await asyncio.sleep(self._options.poll_s)
            return
        polled = await self._ports.events.poll(timeout_s=self._options.poll_s)
        read_s, kept, changes = time.monotonic(), 0, 0
        for partition, events in polled.items():
            advance = advance_of(self._places[partition], events)
            done = await self._ports.store.advance(partition, advance)
            if done is None:
                raise PlaceMovedError(f"partition {partition} is not at {advance.from_position}")
            self._places[partition] = advance.next_position
            self._recorded_at[partition] = events[-1].recorded_at
            kept, changes = kept + done, changes + len(advance.changes)
        if polled:
            self._ports.seen.read_s = read_s
            self._ports.seen.stored(polled)
            self._ports.seen.notes_changed(kept, changes)

    def _sample(self) -> None:
        recorded = self._recorded_at
        read_to = {p: ReadTo(at, recorded.get(p)) for p, at in self._places.items()}
        self._ports.seen.sample({"cache": read_to})

    async def _follow_membership(self) -> None:
        now = time.monotonic()
        if now - self._last_heartbeat < self._options.heartbeat_s:
            return
        self._last_heartbeat = now
        membership = self._ports.membership
        share = share_of(membership.member, await membership.heartbeat(), PARTITIONS)
        # A partition of which Redis lost the place, with nothing to read in it, is taken anew too.
        if share != self._places.keys() or await self._is_lost():
            self._places = {partition: await self._take(partition) for partition in sorted(share)}
            self._ports.events.assign(self._places)
            _LOG.info("partitions_taken", partitions=sorted(share))
        self._ports.seen.owns(len(share))
        for partition in share:
            self._ports.seen.looked_up(partition, await self._ports.store.lookups(partition))

    async def _is_lost(self) -> bool:
        return any([await self._ports.store.place(each) is None for each in self._places])

    async def _take(self, partition: Partition) -> Position:
        """Return the position to read a partition from."""
        events, store = self._ports.events, self._ports.store
        place = await store.place(partition)
        if place is not None:
            try:
                await events.check(partition, place.next_position, place.hash)
            except IntegrityError as error:
                _LOG.warning("cache_dropped", partition=partition, reason=str(error))
            else:
                return place.next_position
        # From the last record on, not behind it: it says which append was the last.
        position = await events.last(partition)
        if not await store.begin(partition, position, instead_of=place):
            raise PlaceMovedError(f"another member began partition {partition}")
        return position
