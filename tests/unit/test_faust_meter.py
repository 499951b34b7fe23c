"""What waits in the meter's queue is taken at once, as a stream would take it, event by event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any

import pytest

from agentjournal.settings import Settings
from streams import faust_meter
from streams.faust_meter import FaustMeter
from streams.meter import Meter

NOW = 2  # the generation of the group that the reader is in


class Waiting:
    """An event in the queue; what it holds is no record, and so is counted as that."""

    def __init__(self, position: int, generation: int = NOW) -> None:
        self.value = b"no record"
        self.message = SimpleNamespace(partition=0, offset=position, generation_id=generation)
        self.is_acknowledged = False

    def ack(self) -> None:
        self.is_acknowledged = True


async def counted(first: Waiting, behind: list[Waiting], *, active: bool = True) -> int:
    """Return how many events a reader took when a stream gives it one and others wait."""
    queue: asyncio.Queue[Any] = asyncio.Queue()
    for each in behind:
        queue.put_nowait(each)

    async def events() -> AsyncGenerator[Waiting]:
        yield first

    meter = Meter()
    reader: Any = FaustMeter(Settings("none:1", "", "", topic_prefix="unit."), meter)
    flow = SimpleNamespace(is_active=lambda: active)
    app = SimpleNamespace(consumer=SimpleNamespace(), flow_control=flow, consumer_generation_id=NOW)
    reader._app = app
    stream = SimpleNamespace(channel=SimpleNamespace(queue=queue), events=events)
    await reader._count(stream)
    return meter.snapshot(0).uncounted.unreadable


async def test_what_waits_is_counted_and_acknowledged_though_it_is_no_event() -> None:
    first, behind = Waiting(0), [Waiting(position) for position in range(1, 4)]
    assert await counted(first, behind) == 4
    assert [each.is_acknowledged for each in behind] == [True] * 3
    assert not first.is_acknowledged  # the stream does that


async def test_an_event_of_before_a_rebalance_is_let_go_and_not_acknowledged() -> None:
    behind = [Waiting(1), Waiting(2, generation=NOW - 1), Waiting(3)]
    assert await counted(Waiting(0), behind) == 3
    assert [each.is_acknowledged for each in behind] == [True, False, True]


async def test_while_partitions_are_given_up_nothing_that_waits_is_counted() -> None:
    behind = [Waiting(1)]
    assert await counted(Waiting(0), behind, active=False) == 1
    assert not behind[0].is_acknowledged


async def test_others_have_their_turn_between_many_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faust_meter, "_AT_ONCE", 2)
    assert await counted(Waiting(0), [Waiting(position) for position in range(1, 6)]) == 3
