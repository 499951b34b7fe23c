"""Subscriptions to a log in memory: groups share the partitions, and go on where they were."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping

from agentjournal.envelope import Recorded
from agentjournal.ids import Partition, Position, StreamId
from agentjournal.subscriptions import (
    MOST_RECORDS,
    Change,
    Joining,
    Parked,
    Place,
    Shares,
    Standing,
)
from agentjournal.testing.world import Group, World


class MemorySubscriptions:
    """Lets one client become a member of groups."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._members: list[MemoryMember] = []

    async def join(self, joining: Joining, shares: Shares) -> MemoryMember:
        """Become a member of a group."""
        group = self._world.groups.setdefault(joining.group, Group())
        for each, log in self._world.events.items():
            end = Position(0 if joining.start == "earliest" else len(log))
            group.places.setdefault(each, Place(end))
        member = MemoryMember(self._world, group, shares)
        self._members.append(member)
        return member

    def parking(self, service: str) -> MemoryParking:
        """Return what is parked of a service."""
        return MemoryParking(self._world, service)

    def cut(self) -> None:
        """Be gone: others get what was not handled."""
        for member in self._members:
            member.cut()


class MemoryMember:
    """Reads its share of the partitions; one that moves is given up when it polls next."""

    def __init__(self, world: World, group: Group, shares: Shares) -> None:
        self._world, self._group, self._shares = world, group, shares
        self._next: dict[Partition, Position] = {}  # of the partitions that are its own
        self._paused: set[Partition] = set()
        group.members.append(self)
        world.wake()

    async def poll(
        self, timeout_s: float, most: int = MOST_RECORDS
    ) -> Mapping[Partition, Iterable[Recorded]]:
        """Return what comes next, in order; empty after `timeout_s`."""
        await self._share()
        if not (polled := self._polled(most)):
            try:
                async with asyncio.timeout(timeout_s):
                    await self._world.changed()
            except TimeoutError:
                return {}
        return polled

    def _polled(self, most: int) -> dict[Partition, Iterable[Recorded]]:
        polled: dict[Partition, Iterable[Recorded]] = {}
        for partition, position in self._next.items():
            records = self._world.events[partition][position : position + most]
            if records and partition not in self._paused:
                polled[partition] = records
                most -= len(records)
                self._next[partition] = Position(position + len(records))
        return polled

    async def _share(self) -> None:
        """Give up and take partitions as the members of the group are now."""
        members, owners = self._group.members, self._group.owners
        if self not in members:
            await asyncio.sleep(0)
            return  # it was cut off, and knows nothing of it
        number = members.index(self)
        own = {each for each in self._world.events if each % len(members) == number}
        if gone := self._next.keys() - own:
            await self._shares.lost(gone)
            self._give_up(gone)
        new = {each for each in own if each not in owners}
        if new:
            owners.update(dict.fromkeys(new, self))
            places = {each: self._group.places[each] for each in sorted(new)}
            await self._shares.taken(places)
            self._next |= {each: place.position for each, place in places.items()}

    def _give_up(self, partitions: Collection[Partition]) -> None:
        for each in list(partitions):
            self._next.pop(each, None)
            self._paused.discard(each)
            if self._group.owners.get(each) is self:
                del self._group.owners[each]
        self._world.wake()

    async def commit(self, places: Mapping[Partition, Place]) -> None:
        """Keep how far the group is."""
        for partition, place in places.items():
            if self._group.owners.get(partition) is self:
                self._group.places[partition] = place

    def pause(self, partition: Partition) -> None:
        """Return nothing more of a partition, until `resume`."""
        self._paused.add(partition)

    def resume(self, partition: Partition) -> None:
        """Return what comes of a partition again."""
        self._paused.discard(partition)
        self._world.wake()

    async def read(
        self, partition: Partition, start: Position, end: Position, stream: StreamId
    ) -> AsyncGenerator[Recorded]:
        """Yield the events of a stream in a part of the log."""
        for recorded in self._world.events[partition][start:end]:
            if recorded.stream == stream:
                yield recorded

    async def leave(self) -> None:
        """Give everything up."""
        await self._shares.lost(list(self._next))
        self.cut()

    def cut(self) -> None:
        """Be gone, without a word."""
        if self in self._group.members:
            self._group.members.remove(self)
        self._give_up([each for each, owner in self._group.owners.items() if owner is self])


class MemoryParking:
    """What is parked of one service."""

    def __init__(self, world: World, service: str) -> None:
        self._kept = world.parked.setdefault(service, {})
        self._asked = world.asked.setdefault(service, {})
        self._world = world

    async def follow(self, partitions: Collection[Partition]) -> Standing:
        """Return what is known of these partitions."""
        here = {s: each for s, each in self._kept.items() if each.partition in partitions}
        return Standing(here, frozenset(s for s in self._asked if s in here))

    async def changes(self) -> list[Change]:
        """Return what is asked for."""
        return [Change(partition, s, is_asked=True) for s, partition in self._asked.items()]

    async def park(self, parked: Parked) -> None:
        """Keep it, in place of what was kept of the stream before."""
        self._kept[parked.stream] = parked

    async def release(self, partition: Partition, stream: StreamId) -> None:
        """Keep nothing of a stream any more, nor that it was asked for."""
        self._kept.pop(stream, None)
        await self.forget_asked(partition, stream)

    async def ask(self, partition: Partition, stream: StreamId) -> None:
        """Ask the service to handle a stream again."""
        self._asked[stream] = partition
        self._world.wake()

    async def forget_asked(
        self,
        partition: Partition,  # noqa: ARG002 - of the port
        stream: StreamId,
    ) -> None:
        """Forget that a stream was asked for."""
        self._asked.pop(stream, None)

    async def listed(self) -> list[Parked]:
        """Return all that are parked, in the order of their streams."""
        return [self._kept[stream] for stream in sorted(self._kept)]

    async def close(self) -> None:
        """Nothing is open."""
