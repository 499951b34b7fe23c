"""When a process takes a partition, and when it gives one back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from agentjournal.ids import Partition

PATIENCE_S = 4.0  # how long to wait for an owner who is alive to give a partition back


class Membership(Protocol):
    """Who else works in this role."""

    member: str

    async def heartbeat(self) -> list[str]: ...
    async def leave(self) -> None: ...


def share_of(member: str, alive: list[str], partitions: int) -> set[Partition]:
    """Return the partitions that `member` should own: dealt out in turn over those alive."""
    if member not in alive:
        return set()
    return {Partition(p) for p in range(partitions) if alive[p % len(alive)] == member}


class Courtesy:
    """Lets an owner who is alive finish: a partition is taken when free, or after a while.

    Taking it early would be safe, since the epoch fences, but would drop work for nothing.
    """

    def __init__(self, member: str) -> None:
        self._member = member
        self._waiting: dict[Partition, float] = {}

    def may_take(
        self, wanted: set[Partition], owners: Mapping[Partition, str], alive: list[str], now: float
    ) -> set[Partition]:
        """Return those of `wanted` to take now; `now` in seconds of any steady clock."""
        self._waiting = {p: self._waiting.get(p, now) for p in wanted}
        return {
            p
            for p, since in self._waiting.items()
            if owners.get(p, "") in {"", self._member}
            or owners[p] not in alive
            or now - since > PATIENCE_S
        }
