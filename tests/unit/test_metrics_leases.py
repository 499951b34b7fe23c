"""Leases are counted while they are live, and forgotten when they are over."""

from __future__ import annotations

from agentjournal.ids import Partition, StreamId
from consumers.metrics_leases import LeaseCount

ONE, TWO = Partition(1), Partition(2)


def named(number: int) -> StreamId:
    return StreamId(f"session/acme/s-{number}")


def test_leases_that_are_live_in_partitions_that_are_owned_count() -> None:
    leases = LeaseCount()
    leases.add(ONE, {named(1): 100, named(2): 101, named(3): 200}, 50)
    leases.add(ONE, {named(3): 0}, 60)
    leases.add(TWO, {named(4): 300}, 70)
    assert leases.live({ONE, TWO}, 100) == 2
    assert leases.live({ONE}, 100) == 1
    assert leases.live({ONE}, 101) == 0


def test_what_is_over_is_forgotten_though_nobody_looks() -> None:
    leases = LeaseCount()
    for number in range(20_000):
        now_ms = 100 * number
        leases.add(ONE, {named(number): now_ms + 5_000}, now_ms)  # 50 are live at a time
        leases.add(TWO, {named(number): now_ms + 5_000}, now_ms)
        leases.add(TWO, {named(number): 0}, now_ms)
        assert len(leases) <= 2 * 1_200
    assert leases.live({ONE}, 100 * 19_999) == 50
