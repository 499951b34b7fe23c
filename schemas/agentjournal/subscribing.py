"""Reading events as they are recorded, as a member of a group: at least once, resumable."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping
from dataclasses import dataclass
from time import monotonic

from agentjournal.artifacts import Artifacts
from agentjournal.envelope import Recorded
from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position, StreamId, parse_stream
from agentjournal.offloading import is_part, whole
from agentjournal.subscriptions import MOST_RECORDS, Joining, Member, Place, Subscriptions

_POLL_S = 1.0
_ENOUGH_S = 0.5  # of events at hand
_COMMIT_EVERY_S = 0.1  # while events are at hand; a crash repeats what was handled since
_MOST_STREAMS = 50_000  # of which the last event is remembered, twice


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events are asked for: None stands for all."""

    types: frozenset[str] | None
    tenants: frozenset[str] | None

    @classmethod
    def of(cls, types: Collection[str] | None, tenants: Collection[str] | None) -> Wanted:
        """Raises TypeError for a text in place of several: its letters would be meant."""
        for name, given in (("types", types), ("tenants", tenants)):
            if isinstance(given, str):
                raise TypeError(f"{name}={given!r} is a text: give a list of them")
        return cls(
            None if types is None else frozenset(types),
            None if tenants is None else frozenset(tenants),
        )

    def has(self, recorded: Recorded) -> bool:
        """Whether an event is asked for."""
        if self.types is not None and recorded.type not in self.types:
            return False
        return self.tenants is None or parse_stream(recorded.stream)[1] in self.tenants


class Reading:
    """How far one partition was read: drops repeats, and sees to it that streams do not fork.

    What was read last of the streams that had events lately is remembered, so memory is bounded.
    """

    def __init__(self, place: Place) -> None:
        self._position, self._order = place
        self._handled = (self._position, self._order)
        self._chain: dict[StreamId, tuple[int, str]] = {}
        self._older: dict[StreamId, tuple[int, str]] = {}

    @property
    def place(self) -> Place:
        """The place behind all that was read."""
        return Place(self._position, self._order)

    @property
    def handled(self) -> Place:
        """The place behind all that was handled, where that is told."""
        return Place(*self._handled)

    def settle(self) -> None:
        """Note that all is handled that was read."""
        self._handled = self._position, self._order

    def is_new(self, recorded: Recorded) -> bool:
        """Read on; return whether this is no repeat.

        Raises IntegrityError when it does not follow what came before in its stream.
        """
        order = recorded.order
        if order <= self._order:
            self._position = Position(recorded.position + 1)
            return False
        stream = recorded.stream
        before = self._chain.get(stream) or self._older.get(stream)
        if before is not None and (recorded.version - 1, recorded.prevhash) != before:
            raise IntegrityError(
                f"{stream} version {recorded.version} does not follow version {before[0]}"
            )
        if len(self._chain) >= _MOST_STREAMS:
            self._older, self._chain = self._chain, {}
        self._chain[stream] = recorded.version, recorded.hash
        self._position, self._order = Position(recorded.position + 1), order
        return True


class _Taken:
    """The partitions of a subscriber that handles one event at a time."""

    def __init__(self) -> None:
        self.member: Member | None = None
        self.readings: dict[Partition, Reading] = {}
        self._committed: dict[Partition, Place] = {}
        self._next_commit = 0.0

    async def taken(self, places: Mapping[Partition, Place]) -> None:
        """Go on from these places."""
        self.readings |= {partition: Reading(place) for partition, place in places.items()}

    async def lost(self, partitions: Collection[Partition]) -> None:
        """Forget partitions; what was handled there is committed."""
        await self.commit()
        for partition in partitions:
            self.readings.pop(partition, None)
            self._committed.pop(partition, None)

    @property
    def is_due(self) -> bool:
        """Whether to commit, though there is more at hand."""
        return monotonic() >= self._next_commit

    async def commit(self) -> None:
        """Keep how far this is."""
        places = {partition: reading.handled for partition, reading in self.readings.items()}
        moved = {p: place for p, place in places.items() if self._committed.get(p) != place}
        if self.member is not None and moved:
            await self.member.commit(moved)
            self._committed |= moved
        self._next_commit = monotonic() + _COMMIT_EVERY_S


async def subscribe(
    subscriptions: Subscriptions, joining: Joining, wanted: Wanted, artifacts: Artifacts | None
) -> AsyncGenerator[Recorded]:
    """Yield events in the order of their streams; each is handled when the next is asked for.

    Repeats in the log are dropped, large values are in their events again. Raises IntegrityError
    when a stream forks or its hash chain is broken, Unavailable when Kafka is away: subscribing
    again goes on behind the last commit; and what `whole` raises.
    """
    taken = _Taken()
    member = taken.member = await subscriptions.join(joining, taken)
    most = 1
    try:
        while True:
            polled = await member.poll(_POLL_S, most)
            began = monotonic()
            for partition, reading, records in [
                (each, taken.readings[each], records) for each, records in polled.items()
            ]:
                for recorded in records:
                    if taken.readings.get(partition) is not reading:
                        break  # it went away meanwhile: whoever has it reads the rest
                    if reading.is_new(recorded) and wanted.has(recorded):
                        yield (
                            await whole(recorded, artifacts)
                            if is_part(recorded.raw_data)
                            else recorded
                        )
                    reading.settle()
                    if taken.is_due:
                        await taken.commit()
            await taken.commit()
            most = _next_most(most, monotonic() - began)
    finally:
        await member.leave()


def _next_most(most: int, took_s: float) -> int:
    """Return how many events to poll for after so many took so long.

    Who does not poll for five minutes is taken for dead: a second's worth is enough at a time.
    """
    return min(MOST_RECORDS, most * 2) if took_s < _ENOUGH_S else max(1, int(most / took_s))
