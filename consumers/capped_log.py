"""The canonical log up to certain positions: what is beyond them waits until they are raised."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from agentjournal.envelope import Recorded
from agentjournal.ids import Partition, Position
from consumers.projector import EventsReader, Polled


class PausableLog(EventsReader, Protocol):
    """A log of which some partitions may wait while others are read."""

    def pause(self, partitions: Collection[Partition]) -> None: ...
    def resume(self, partitions: Collection[Partition]) -> None: ...


class CappedLog:
    """Gives the events before `caps`; a partition without a cap gives none."""

    def __init__(self, log: PausableLog) -> None:
        self._log = log
        self.caps: Mapping[Partition, Position] = {}
        self._held: dict[Partition, Sequence[Recorded]] = {}

    def assign(self, places: Mapping[Partition, Position]) -> None:
        """Read these partitions from these positions on, and no others."""
        self._held = {}
        self._log.assign(places)

    async def check(self, partition: Partition, position: Position, hash_before: str) -> None:
        """Check as the log does."""
        await self._log.check(partition, position, hash_before)

    async def poll(self, *, timeout_s: float) -> Polled:
        """Return what has arrived and is before the caps."""
        if released := self._split(self._held):
            self._log.resume([p for p in released if p not in self._held])
            return released
        polled = await self._log.poll(timeout_s=timeout_s)
        ready = self._split(polled)
        self._log.pause(list(self._held))
        return ready

    def _split(self, polled: Polled) -> Polled:
        """Return the events before the caps; hold the others."""
        ready: dict[Partition, Sequence[Recorded]] = {}
        for partition, events in list(polled.items()):
            cap = self.caps.get(partition, Position(0))
            count = sum(recorded.position < cap for recorded in events)
            if count:
                ready[partition] = events[:count]
            if count < len(events):
                self._held[partition] = events[count:]
            else:
                self._held.pop(partition, None)
        return ready
