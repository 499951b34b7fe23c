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


class News:
    """What is new in a poll: found once for all projections that are at the same place."""

    def __init__(self) -> None:
        self._found: dict[tuple[Partition, Place], tuple[list[Recorded], Place]] = {}

    def since(
        self, place: Place, partition: Partition, events: Sequence[Recorded]
    ) -> tuple[Sequence[Recorded], Place]:
        """Return the first occurrences beyond a place, and the place behind the events."""
        if (partition, place) not in self._found:
            self._found[partition, place] = _since(place, events)
        return self._found[partition, place]


def _since(place: Place, events: Sequence[Recorded]) -> tuple[list[Recorded], Place]:
    next_position, order, _, _ = place
    new: list[Recorded] = []
    unread = [recorded for recorded in events if recorded.position >= next_position]
    for recorded in unread:
        recorded_order = (recorded.input_position, recorded.batch_index)
        if recorded_order > order:
            order = recorded_order
            new.append(recorded)
    if not unread:
        return new, place
    last = unread[-1]
    return new, Place(Position(last.position + 1), order, last.hash, last.recorded_at)


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

    def wanted(self, recorded: Recorded) -> bool:
        """Whether this event is new to the projection, and one that it reads."""
        place = self.places.get(recorded.partition)
        is_new = place is not None and recorded.order > place.order
        return is_new and self.projection.reads(recorded) and self._goes_on(recorded.stream)

    def _goes_on(self, stream: StreamId) -> bool:
        return stream.startswith(self._prefixes) and stream not in self.parked

    def missing(self, events: Sequence[Recorded]) -> list[StreamId]:
        """Return the streams whose contexts must be put in before `events` can be folded."""
        if self._types is not None:
            return []
        unknown = {recorded.stream for recorded in events} - self.contexts.keys()
        if not unknown:
            return []
        return sorted({r.stream for r in events if r.stream in unknown and self.wanted(r)})

    def put(self, streams: Sequence[StreamId], found: Mapping[StreamId, Context]) -> None:
        """Take contexts as they are stored; a stream that was not found is empty."""
        for stream in streams:
            self.contexts[stream] = found.get(stream, EMPTY)

    def fold(
        self, batches: Mapping[Partition, Sequence[Recorded]], news: News | None = None
    ) -> Folded:
        """Fold events, and move the places on; `news` may be that of other folds of these batches.

        Raises PoisonError for an event that cannot be folded, IntegrityError when the log forks.
        """
        folded, found = Folded(Changes(self.projection.tables)), news or News()
        for partition, events in batches.items():
            if partition in self.places and events:
                new, place = found.since(self.places[partition], partition, events)
                for recorded in self._chosen(new):
                    self._fold_one(recorded, folded)
                self.places[partition] = folded.places[partition] = place
        return folded

    def _chosen(self, events: Sequence[Recorded]) -> Iterable[Recorded]:
        types, fenced = self._types, self.projection.fenced
        if types is not None:  # most events are not for it: the shortest way past them
            events = [r for r in events if r.type in types or (fenced and r.fence is not None)]
        return (r for r in events if self._goes_on(r.stream))  # one before it may park the stream

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
