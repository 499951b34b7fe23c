"""Folding a partition's events into row changes: repeats dropped, order and chain checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agentjournal.envelope import Recorded
from agentjournal.ids import Partition, Position, StreamId
from projections.projection import EMPTY, Context, GapError, Projection, check_chain
from projections.rows import Changes

# What a fold of plain values raises when an event is not what it takes it for.
FOLD_ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Place(NamedTuple):
    """How far a projection is in a partition: the next position, and the last order applied."""

    next_position: Position
    order: tuple[int, int]  # (input position, batch index)
    hash: str  # of the record before next_position; empty: none
    read_until: str | None = None  # the broker's time of that record


class Parked(NamedTuple):
    """A stream that a projection stopped at, and why."""

    stream: StreamId
    partition: Partition
    version: int
    error: str


@dataclass(slots=True)
class Folded:
    """What a batch comes to: rows, places, and streams that cannot go on."""

    changes: Changes
    places: dict[Partition, Place] = field(default_factory=dict)
    parked: list[Parked] = field(default_factory=list)


class PoisonError(Exception):
    """An event that the projection cannot fold; `__cause__` says why."""

    def __init__(self, recorded: Recorded) -> None:
        super().__init__(f"{recorded.stream} version {recorded.version} ({recorded.type})")
        self.recorded = recorded


class ProjectionFold:
    """One projection over the partitions of a process: its contexts and places, in memory."""

    def __init__(self, projection: Projection) -> None:
        self.projection = projection
        self.places: dict[Partition, Place] = {}
        self.stored: dict[Partition, Place] = {}  # of `places`, what the database has
        self.contexts: dict[StreamId, Context] = {}
        self.parked: set[StreamId] = set()
        self.noted: set[StreamId] = set()  # of those parked, what the database has
        self._prefixes = tuple(f"{kind}/" for kind in sorted(projection.kinds))
        self._types = None if projection.every_event else frozenset(projection.types)
        self._fenced = projection.fenced

    def wanted(self, recorded: Recorded) -> bool:
        """Whether this event is new to the projection, and one that it reads."""
        place = self.places.get(recorded.partition)
        return place is not None and recorded.order > place.order and self._reads(recorded)

    def _reads(self, recorded: Recorded) -> bool:
        return (
            (
                self._types is None
                or recorded.type in self._types
                or (self._fenced and recorded.fence is not None)
            )
            and recorded.stream.startswith(self._prefixes)
            and recorded.stream not in self.parked
        )

    def missing(self, events: Iterable[Recorded]) -> list[StreamId]:
        """Return the streams whose contexts must be put in before `events` can be folded."""
        if self._types is not None:
            return []
        contexts = self.contexts
        streams = {r.stream for r in events if r.stream not in contexts and self.wanted(r)}
        return sorted(streams)

    def put(self, streams: Sequence[StreamId], found: Mapping[StreamId, Context]) -> None:
        """Take contexts as they are stored; a stream that was not found is empty."""
        for stream in streams:
            self.contexts[stream] = found.get(stream, EMPTY)

    def fold(self, batches: Mapping[Partition, Sequence[Recorded]]) -> Folded:
        """Fold events, and move the places on.

        Raises PoisonError for an event that cannot be folded, IntegrityError when the log forks.
        """
        folded = Folded(Changes(self.projection.tables))
        for partition, events in batches.items():
            if partition in self.places and events:
                place = self._fold_partition(self.places[partition], events, folded)
                self.places[partition] = folded.places[partition] = place
        return folded

    def _fold_partition(self, place: Place, events: Sequence[Recorded], folded: Folded) -> Place:
        next_position, order, last_hash, read_until = place
        for recorded in events:
            if recorded.position < next_position:
                continue
            recorded_order = recorded.order
            if recorded_order > order:
                order = recorded_order
                if self._reads(recorded):
                    self._fold_one(recorded, folded)
            next_position, last_hash = Position(recorded.position + 1), recorded.hash
            read_until = recorded.recorded_at
        return Place(next_position, order, last_hash, read_until)

    def _fold_one(self, recorded: Recorded, folded: Folded) -> None:
        context = EMPTY
        if self._types is None:
            context = self.contexts[recorded.stream]
            try:
                check_chain(recorded, context)
            except GapError as gap:
                self.park(recorded, str(gap), folded)
                return
        try:
            after = self.projection.fold(recorded, context, folded.changes)
        except FOLD_ERRORS as error:
            raise PoisonError(recorded) from error
        if self._types is None:
            self.contexts[recorded.stream] = after

    def park(self, recorded: Recorded, error: str, folded: Folded) -> None:
        """Stop the stream at this event; later ones stay in the log until it is redriven."""
        self.parked.add(recorded.stream)
        folded.parked.append(Parked(recorded.stream, recorded.partition, recorded.version, error))

    def may_be_at(self, partition: Partition, position: Position | None) -> bool:
        """Whether its checkpoint may be there: before the batch that is being stored, or after."""
        known = (self.stored.get(partition), self.places.get(partition))
        return position in {place.next_position for place in known if place is not None}

    def keep_contexts(self, events: Iterable[Recorded]) -> None:
        """Forget the contexts of all streams but those of `events`, which are not stored yet."""
        streams = {recorded.stream for recorded in events} & self.contexts.keys()
        self.contexts = {stream: self.contexts[stream] for stream in streams}

    def forget(self) -> None:
        """Drop everything that was not read from the database since."""
        self.places.clear()
        self.stored.clear()
        self.contexts.clear()
        self.parked.clear()
        self.noted.clear()
