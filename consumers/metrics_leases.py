"""How many leases are live, told from what folds say of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from agentjournal.ids import Partition, StreamId

_SLACK = 1_000  # leases that are over, beyond as many as are live, before they are forgotten


class LeaseCount:
    """Until when each lease lasts; nobody need ask for those that are over to be forgotten."""

    def __init__(self) -> None:
        self._until_ms: dict[Partition, dict[StreamId, int]] = {}
        self._most: dict[Partition, int] = {}

    def __len__(self) -> int:
        return sum(map(len, self._until_ms.values()))

    def add(self, partition: Partition, until_ms: Mapping[StreamId, int], now_ms: float) -> None:
        """Note until when leases last; 0: they were given back."""
        leases = self._until_ms.setdefault(partition, {})
        leases.update(until_ms)
        if len(leases) > self._most.get(partition, _SLACK):
            self._until_ms[partition] = live = _live(leases, now_ms)
            self._most[partition] = 2 * len(live) + _SLACK

    def live(self, partitions: Collection[Partition], now_ms: float) -> int:
        """Return how many are live in these partitions, and forget all others."""
        self._until_ms = {
            partition: _live(leases, now_ms)
            for partition, leases in self._until_ms.items()
            if partition in partitions
        }
        return len(self)

    def forget(self) -> None:
        """Begin anew."""
        self._until_ms.clear()


def _live(until_ms: Mapping[StreamId, int], now_ms: float) -> dict[StreamId, int]:
    return {stream: until for stream, until in until_ms.items() if until > now_ms}
