"""A subscriber that takes one event at a time, on a share of the log that comes and goes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from typing import Any

import pytest

from agentjournal import Recorded
from agentjournal.envelope import parse_record
from agentjournal.ids import Partition, Position, StreamId
from agentjournal.subscribing import Wanted, subscribe
from agentjournal.subscriptions import MOST_RECORDS, Joining, Place, Shares
from tests.support import Stream, request, said

P0, P1 = Partition(0), Partition(1)
JOINING = Joining("g")


def records(partition: Partition, count: int) -> list[Recorded]:
    stream = Stream(StreamId(f"session/default/of-{partition}"))
    for number in range(count):
        stream.accept(request(said(str(number))))
    return [parse_record(r, partition, Position(n)) for n, r in enumerate(stream.records)]


class Log:
    """A log and the only member of its group."""

    def __init__(self, count: int) -> None:
        self.logs = {p: records(p, count) for p in (P0, P1)}
        self.committed: dict[Partition, Place] = {}
        self.asked: list[int] = []  # how many events each poll asked for
        self.has_left = False
        self.stops_at: int | None = None  # events that are handled
        self.shares: Shares
        self._next: dict[Partition, int] = {}

    async def join(self, joining: Joining, shares: Shares) -> Any:
        assert joining is JOINING
        self.shares = shares
        await self.give(P0, P1)
        return self

    async def give(self, *partitions: Partition) -> None:
        """Give partitions to the subscriber, from where the group is."""
        places = {p: self.committed.get(p, Place(Position(0))) for p in partitions}
        await self.shares.taken(places)
        self._next |= {p: place.position for p, place in places.items()}

    async def take(self, *partitions: Partition) -> None:
        """Take partitions away."""
        await self.shares.lost(partitions)
        for each in partitions:
            del self._next[each]

    async def poll(
        self, timeout_s: float, most: int = MOST_RECORDS
    ) -> Mapping[Partition, Iterable[Recorded]]:
        assert timeout_s > 0
        self.asked.append(most)
        polled = {p: self.logs[p][at:] for p, at in self._next.items()}
        self._next = {p: len(self.logs[p]) for p in self._next}
        return polled

    async def commit(self, places: Mapping[Partition, Place]) -> None:
        self.committed |= places
        if sum(place.position for place in self.committed.values()) == self.stops_at:
            self.stops_at = None
            raise RuntimeError("all was handled")

    async def leave(self) -> None:
        await self.take(*self._next)
        self.has_left = True


def reading(log: Log, **more: Any) -> AsyncGenerator[Recorded]:
    wanted = Wanted.of(more.get("types"), more.get("tenants"))
    subscriptions: Any = log
    return subscribe(subscriptions, JOINING, wanted, None)


def at(recorded: Recorded) -> tuple[Partition, int]:
    return recorded.partition, recorded.position


async def test_who_stops_reading_leaves_and_the_last_event_is_not_handled() -> None:
    log = Log(3)
    async with aclosing(reading(log)) as events:
        assert [at(await anext(events)) for _ in range(2)] == [(P0, 0), (P0, 1)]
    assert log.has_left
    assert {p: place.position for p, place in log.committed.items()} == {P0: 1, P1: 0}


async def test_what_is_left_of_a_partition_that_went_away_does_not_come() -> None:
    log = Log(3)
    async with aclosing(reading(log)) as events:
        assert at(await anext(events)) == (P0, 0)
        await log.take(P0)
        assert log.committed[P0].position == 0, "it is being handled still"
        assert [at(await anext(events)) for _ in range(3)] == [(P1, 0), (P1, 1), (P1, 2)]


async def test_a_partition_that_comes_back_begins_where_the_group_is() -> None:
    log = Log(2)
    async with aclosing(reading(log)) as events:
        assert [at(await anext(events)) for _ in range(2)] == [(P0, 0), (P0, 1)]
        await log.take(P0, P1)
        await log.give(P0, P1)
        found = [at(await anext(events)) for _ in range(3)]
    assert found == [(P0, 1), (P1, 0), (P1, 1)]


async def test_what_is_not_asked_for_is_handled_silently() -> None:
    log = Log(2)
    log.stops_at = 4
    async with aclosing(reading(log, types=["other"])) as events:
        with pytest.raises(RuntimeError, match="all was handled"):
            await anext(events)


async def test_more_is_asked_for_while_events_are_handled_quickly() -> None:
    log = Log(3)
    behind = {p: (log.logs[p][:1], log.logs[p][1:]) for p in (P0, P1)}
    log.logs = {p: at_hand for p, (at_hand, _) in behind.items()}
    async with aclosing(reading(log)) as events:
        for _ in range(2):
            await anext(events)
        log.logs = {p: at_hand + later for p, (at_hand, later) in behind.items()}
        await anext(events)
    assert log.asked == [1, 2]
