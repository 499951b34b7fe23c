"""What readers of the log count: projections and the cache."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from agentjournal.envelope import Recorded
from agentjournal.ids import Partition, Position
from consumers.metrics_lag import Lag, nowhere
from consumers.watch import Watch
from projections.folding import ProjectionFold


class ReadTo(NamedTuple):
    """How far a reader has come in a partition: what is next, and the broker's time before it."""

    next_position: Position
    recorded_at: str | None


class ReaderMetrics:
    """Counts what a role reads from the log and stores.

    `end_of` gives the position behind the last event of a partition, as far as it is known.
    """

    def __init__(
        self, watch: Watch, end_of: Callable[[Partition], Position | None] = nowhere
    ) -> None:
        self.watch = watch
        self.read_s = 0.0  # when the batch was read that is being stored
        self._end_of = end_of
        self._lookups: dict[tuple[Partition, str], int] = {}  # as they were counted last
        self._owns_its_share = self._was_at_end = False
        self._lags: dict[str, Lag] = {}
        watch.metrics.add("agentjournal_events_stored_total", 0, role=watch.role)

    def owns(self, partitions: int) -> None:
        """Say that the role has so many partitions, all of its share; it works once caught up."""
        self._owns_its_share = True
        if self._was_at_end:
            self.watch.works_on(partitions)
        else:
            self.watch.health.waits("reading up to the end of the log for the first time")
            self.watch.metrics.put("agentjournal_partitions", partitions, role=self.watch.role)

    def stored(self, polled: Mapping[Partition, Sequence[Recorded]]) -> None:
        """Count a batch of events that is stored."""
        events = sum(map(len, polled.values()))
        self.watch.metrics.add("agentjournal_events_stored_total", events, role=self.watch.role)
        self.watch.batch(events, self.read_s)

    def notes_changed(self, kept: int, changes: int) -> None:
        """Count changes of notes, of which so many were of sessions that the cache keeps."""
        for notes, count in (("kept", kept), ("not_kept", changes - kept)):
            self.watch.metrics.add("agentjournal_note_changes_total", count, notes=notes)

    def looked_up(self, partition: Partition, counts: Mapping[str, int]) -> None:
        """Publish what clients have counted so far, in all of their processes."""
        for result in ("hit", "miss"):
            known, now = self._lookups.get((partition, result), 0), counts.get(result, 0)
            self._lookups[partition, result] = now
            more = now - known if now >= known else now  # Redis lost it: they count anew
            self.watch.metrics.add(
                "agentjournal_note_lookups_total", more, result=result, partition=str(partition)
            )

    def starts_over(self, trouble: Exception) -> None:
        """Say that everything in memory was dropped."""
        self.watch.starts_over(trouble)
        self._lags.clear()
        self._owns_its_share = False

    def sample_folds(self, folds: Sequence[ProjectionFold]) -> None:
        """Set the gauges of projections."""
        places = {fold.projection.name: _read_to(fold) for fold in folds}
        self.sample(places)
        for fold in folds:
            parked, name = len(fold.parked), fold.projection.name
            self.watch.metrics.put("agentjournal_streams_parked", parked, projection=name)

    def sample(self, places: Mapping[str, Mapping[Partition, ReadTo]]) -> None:
        """Set the gauges of how far each reader is behind; note when it was at the end."""
        for reader, read_to in places.items():
            self._sample_one(reader, read_to)
        if self._owns_its_share and not self._was_at_end:
            self._was_at_end = all(map(self._is_at_end, places.values()))

    def _is_at_end(self, places: Mapping[Partition, ReadTo]) -> bool:
        ends = {partition: self._end_of(partition) for partition in places}
        return all(end is not None and places[p].next_position >= end for p, end in ends.items())

    def _sample_one(self, reader: str, places: Mapping[Partition, ReadTo]) -> None:
        now_s, records, seconds = time.time(), 0, 0.0
        lag = self._lags.setdefault(reader, Lag())
        for partition, (next_position, recorded_at) in places.items():
            behind = lag.look(
                partition,
                next_position,
                self._end_of(partition),
                read_until_s=_moment_s(recorded_at),
                now_s=now_s,
            )
            records, seconds = records + behind.records, max(seconds, behind.seconds)
        self.watch.metrics.put("agentjournal_lag_records", records, reader=reader)
        self.watch.metrics.put("agentjournal_lag_seconds", seconds, reader=reader)


def _read_to(fold: ProjectionFold) -> Mapping[Partition, ReadTo]:
    return {p: ReadTo(place.next_position, place.read_until) for p, place in fold.stored.items()}


def _moment_s(recorded_at: str | None) -> float | None:
    return None if recorded_at is None else datetime.fromisoformat(recorded_at).timestamp()
