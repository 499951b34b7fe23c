"""The events of one partition that a service has still to handle: a queue for each stream.

Nothing here waits or asks a clock. The place that may be committed is the first event that is not
handled, so a crash repeats events of other streams behind it, and loses none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from agentjournal.envelope import Recorded
from agentjournal.ids import Position, StreamId
from agentjournal.subscribing import Reading, Wanted
from agentjournal.subscriptions import Parked, Place


class Queues:
    """What was read of a partition, and not handled yet."""

    def __init__(self, place: Place, parked: Mapping[StreamId, Parked]) -> None:
        self.parked = dict(parked)
        self._reading = Reading(place)
        self._waiting: dict[StreamId, deque[Recorded]] = {}
        self._open: dict[Position, Place] = {}  # in the order of positions

    @property
    def held(self) -> int:
        """How many events are in memory."""
        return len(self._open)

    @property
    def read(self) -> Position:
        """The position that is read next."""
        return self._reading.place.position

    @property
    def place(self) -> Place:
        """The place behind all that was handled or is held back by a parked stream."""
        return next(iter(self._open.values()), self._reading.place)

    def take(self, recorded: Recorded, wanted: Wanted) -> StreamId | None:
        """Read an event; return its stream if it had nothing to handle before this.

        Raises IntegrityError when it does not follow what came before in its stream.
        """
        before = self._reading.place
        if not self._reading.is_new(recorded) or not wanted.has(recorded):
            return None
        if recorded.stream in self.parked:
            return None
        self._open[recorded.position] = Place(recorded.position, before.order)
        waiting = self._waiting.get(recorded.stream)
        if waiting is None:
            self._waiting[recorded.stream] = deque([recorded])
            return recorded.stream
        waiting.append(recorded)
        return None

    def next(self, stream: StreamId) -> Recorded | None:
        """Return the event of a stream that comes next, None when there is none."""
        waiting = self._waiting.get(stream)
        return waiting[0] if waiting else None

    def done(self, stream: StreamId) -> None:
        """Note that the next event of a stream is handled."""
        waiting = self._waiting[stream]
        del self._open[waiting.popleft().position]
        if not waiting:
            del self._waiting[stream]

    def park(self, parked: Parked) -> None:
        """Hold everything of a stream back from its next event on. It is kept already where."""
        self.parked[parked.stream] = parked
        for recorded in self._waiting.pop(parked.stream, ()):
            del self._open[recorded.position]

    def release(self, stream: StreamId) -> None:
        """Let a stream go on with what is read next: all before it is handled."""
        del self.parked[stream]
