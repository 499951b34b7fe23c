"""Reading events as they are recorded, as a member of a group: at least once, resumable."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping
from dataclasses import dataclass
from time import monotonic

from agentjournal.envelope import Recorded
from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position, StreamId, parse_stream
from agentjournal.subscriptions import Joining, Member, Place, Subscriptions

_POLL_S = 1.0
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
        self.place = place  # behind all that was read
        self._order = place.order
        self._chain: dict[StreamId, tuple[int, str]] = {}
        self._older: dict[StreamId, tuple[int, str]] = {}

    def is_new(self, recorded: Recorded) -> bool:
        """Read on; return whether this is no repeat.

        Raises IntegrityError when it does not follow what came before in its stream.
        """
        order = recorded.order
        position = Position(recorded.position + 1)
        if order <= self._order:
            self.place = Place(position, self._order)
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
        self._order = order
        self.place = Place(position, order)
        return True


class _Taken:
    """The partitions of a subscriber that handles one event at a time."""

    def __init__(self) -> None:
        self.member: Member | None = None
        self.readings: dict[Partition, Reading] = {}
        self._handled: dict[Partition, Place] = {}
        self._committed: dict[Partition, Place] = {}
        self._next_commit = 0.0

    async def taken(self, places: Mapping[Partition, Place]) -> None:
        """Go on from these places."""
        self.readings |= {partition: Reading(place) for partition, place in places.items()}
        self._handled |= places  # kept at once: a new group has its place though it dies now

    async def lost(self, partitions: Collection[Partition]) -> None:
        """Forget partitions; what was handled there is committed."""
        await self.commit()
        for partition in partitions:
            for kept in (self.readings, self._handled, self._committed):
                kept.pop(partition, None)

    def handled(self, partition: Partition, reading: Reading) -> bool:
        """Note that all was handled that was read; return whether to commit now."""
        if self.readings.get(partition) is reading:
            self._handled[partition] = reading.place
        return monotonic() >= self._next_commit

    async def commit(self) -> None:
        """Keep how far this is."""
        member, places = self.member, self._handled.items()
        moved = {p: place for p, place in places if self._committed.get(p) != place}
        if member is not None and moved:
            await member.commit(moved)
            self._committed |= moved
        self._next_commit = monotonic() + _COMMIT_EVERY_S


async def subscribe(
    subscriptions: Subscriptions, joining: Joining, wanted: Wanted
) -> AsyncGenerator[Recorded]:
    """Yield events in the order of their streams; each is handled when the next is asked for.

    Repeats in the log are dropped. Raises IntegrityError when a stream forks or its hash chain is
    broken, Unavailable when Kafka is away: subscribing again goes on behind the last commit.
    """
    taken = _Taken()
    member = taken.member = await subscriptions.join(joining, taken)
    try:
        while True:
            polled = await member.poll(_POLL_S)
            for partition, reading, records in [
                (each, taken.readings[each], records) for each, records in polled.items()
            ]:
                for recorded in records:
                    if taken.readings.get(partition) is not reading:
                        break  # it went away meanwhile: whoever has it reads the rest
                    if reading.is_new(recorded) and wanted.has(recorded):
                        yield recorded
                    if taken.handled(partition, reading):
                        await taken.commit()
            await taken.commit()
    finally:
        await member.leave()
