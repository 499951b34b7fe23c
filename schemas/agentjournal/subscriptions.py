"""What a subscriber needs from the outside: a share of the log, places in it, parked streams."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias

from agentjournal.envelope import Recorded
from agentjournal.ids import Partition, Position, StreamId, Version

Start: TypeAlias = Literal["earliest", "latest"]
NO_ORDER = (-1, -1)
MOST_RECORDS = 1_000  # of a poll


@dataclass(frozen=True, slots=True)
class Joining:
    """Who joins: a member of a group, which begins at the start or the end when it is new.

    A `member` with a name has its partitions back at once when it comes again.
    """

    group: str
    start: Start = "earliest"
    member: str | None = None


class Place(NamedTuple):
    """How far a group is in a partition: `position` is next to handle.

    `order` is that of the last event before it: what is not greater is a repeat.
    """

    position: Position
    order: tuple[int, int] = NO_ORDER


class Parked(NamedTuple):
    """A stream that a service stopped at: nothing of it is handled from `version` on."""

    service: str
    stream: StreamId
    version: Version
    partition: Partition
    position: Position
    event_id: str
    type: str
    error: str
    attempts: int
    parked_at: str  # ISO 8601, the clock of the service: information, never order


class Change(NamedTuple):
    """What another process said of a stream of a service."""

    partition: Partition
    stream: StreamId
    is_asked: bool  # for it to be handled again; else it took itself for the owner of the stream


class Standing(NamedTuple):
    """What is known of the streams of some partitions."""

    parked: Mapping[StreamId, Parked]
    asked: frozenset[StreamId]


class Shares(Protocol):
    """One who is told which partitions are its own."""

    async def taken(self, places: Mapping[Partition, Place]) -> None:
        """Take partitions, from these places on."""
        ...

    async def lost(self, partitions: Collection[Partition]) -> None:
        """Give partitions up, once what is being handled there has ended."""
        ...


class Member(Protocol):
    """A member of a group, with a share of the partitions."""

    async def poll(
        self, timeout_s: float, most: int = MOST_RECORDS
    ) -> Mapping[Partition, Iterable[Recorded]]:
        """Return what comes next, `most` events at most, in order; empty after `timeout_s`.

        Iterating over it raises IntegrityError at a record that is none of ours; this raises
        Unavailable, and what `Shares` raised.
        """
        ...

    async def commit(self, places: Mapping[Partition, Place]) -> None:
        """Keep how far the group is. Partitions that went to others are left out silently.

        Raises Unavailable.
        """
        ...

    def pause(self, partition: Partition) -> None:
        """Return nothing more of a partition that is its own, until `resume`."""
        ...

    def resume(self, partition: Partition) -> None: ...

    def read(
        self, partition: Partition, start: Position, end: Position, stream: StreamId
    ) -> AsyncGenerator[Recorded]:
        """Yield the events of a stream in a part of the log, repeats too. Raises Unavailable."""
        ...

    async def leave(self) -> None:
        """Give everything up. `Shares.lost` is told of it first."""
        ...


class Parking(Protocol):
    """Where a service keeps the streams that it stopped at. Everything may raise Unavailable."""

    async def follow(self, partitions: Collection[Partition]) -> Standing:
        """Return what is known of these partitions; what others say from here on are changes."""
        ...

    async def changes(self) -> list[Change]:
        """Return what others have said meanwhile."""
        ...

    async def park(self, parked: Parked) -> None:
        """Keep it, in place of what was kept of the stream before."""
        ...

    async def release(self, partition: Partition, stream: StreamId) -> None:
        """Keep nothing of a stream any more, nor that it was asked for."""
        ...

    async def ask(self, partition: Partition, stream: StreamId) -> None:
        """Ask the service to handle a stream again."""
        ...

    async def forget_asked(self, partition: Partition, stream: StreamId) -> None:
        """Forget that a stream was asked for."""
        ...

    async def listed(self) -> list[Parked]:
        """Return all that are parked, of all partitions, in the order of their streams."""
        ...

    async def close(self) -> None: ...


class Subscriptions(Protocol):
    """The way to events as they are recorded."""

    async def join(self, joining: Joining, shares: Shares) -> Member:
        """Become a member of a group. Raises Unavailable."""
        ...

    def parking(self, service: str) -> Parking:
        """Return what is parked of a service; nothing is contacted yet."""
        ...
