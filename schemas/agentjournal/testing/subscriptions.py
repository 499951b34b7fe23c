"""Subscriptions to a log in memory: groups share the partitions, and go on where they were."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from typing import Literal

from agentjournal.envelope import Recorded
from agentjournal.ids import Partition, Position, parse_stream
from agentjournal.testing.world import Group, Member, World


class MemorySubscriptions:
    """Reads events in a group: at least once, in order per stream."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._joined: list[tuple[Group, Member]] = []

    async def __call__(
        self,
        *,
        group: str,
        types: Collection[str] | None,
        tenants: Collection[str] | None,
        start: Literal["earliest", "latest"],
    ) -> AsyncGenerator[Recorded]:
        """Yield events; each is handled when the next is asked for."""
        group_of = self._world.groups.setdefault(group, Group())
        for each, log in self._world.events.items():
            group_of.places.setdefault(each, Position(0 if start == "earliest" else len(log)))
        member = Member()
        group_of.members.append(member)
        self._joined.append((group_of, member))
        try:
            while True:
                partition = self._next(group_of, member)
                if partition is None:
                    await self._world.changed()
                    continue
                recorded = self._world.events[partition][group_of.places[partition]]
                # While it is handled nobody gets the next, though the partition may go to another.
                member.handles = partition
                try:
                    if _is_wanted(recorded, types, tenants):
                        yield recorded
                    group_of.places[partition] = Position(group_of.places[partition] + 1)
                finally:
                    member.handles = None
                    self._world.wake()
        finally:
            self._leave(group_of, member)

    def cut(self) -> None:
        """Be gone: others get what was not handled."""
        for group, member in list(self._joined):
            self._leave(group, member)

    def _leave(self, group: Group, member: Member) -> None:
        if member in group.members:
            group.members.remove(member)
            self._joined.remove((group, member))
            self._world.wake()

    def _next(self, group: Group, member: Member) -> Partition | None:
        """Return a partition of the member that has something for it."""
        number, members = group.members.index(member), len(group.members)
        handled = {each.handles for each in group.members}
        for partition, log in self._world.events.items():
            is_its_own = partition % members == number and partition not in handled
            if is_its_own and group.places[partition] < len(log):
                return partition
        return None


def _is_wanted(
    recorded: Recorded, types: Collection[str] | None, tenants: Collection[str] | None
) -> bool:
    if types is not None and recorded.type not in types:
        return False
    return tenants is None or parse_stream(recorded.stream)[1] in tenants
