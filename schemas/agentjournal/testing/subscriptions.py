"""Subscriptions to a log in memory: groups share the partitions, and go on where they were."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from typing import Literal

from agentjournal.envelope import Recorded
from agentjournal.ids import Partition, Position, parse_stream
from agentjournal.testing.world import World


class MemorySubscriptions:
    """Reads events in a group: at least once, in order per stream."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def __call__(
        self,
        *,
        group: str,
        types: Collection[str] | None,
        tenants: Collection[str] | None,
        start: Literal["earliest", "latest"],
    ) -> AsyncGenerator[Recorded]:
        """Yield events; each is handled when the next is asked for."""
        world = self._world
        for partition, log in world.events.items():
            begin = Position(0 if start == "earliest" else len(log))
            world.places.setdefault((group, partition), begin)
        while True:
            partition = self._free(group)
            if partition is None:
                await world.changed()
                continue
            # While one member handles an event, no other gets the next of its partition.
            place = group, partition
            world.held.add(place)
            try:
                recorded = world.events[partition][world.places[place]]
                if _is_wanted(recorded, types, tenants):
                    yield recorded
                world.places[place] = Position(world.places[place] + 1)
            finally:
                world.held.discard(place)
                world.wake()

    def _free(self, group: str) -> Partition | None:
        for partition, log in self._world.events.items():
            place = group, partition
            if place not in self._world.held and self._world.places[place] < len(log):
                return partition
        return None


def _is_wanted(
    recorded: Recorded, types: Collection[str] | None, tenants: Collection[str] | None
) -> bool:
    if types is not None and recorded.type not in types:
        return False
    return tenants is None or parse_stream(recorded.stream)[1] in tenants
