"""Subscriptions: at least once, in order, and taken up where the group left off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from agentjournal import IntegrityError, Log, NoteSet, Recorded, SessionStarted, Unavailable
from agentjournal.ids import Partition
from agentjournal.kafka_options import client_options
from agentjournal.settings import Settings
from consumers.kafka_events import KafkaEvents
from local.stack import Stack
from tests.servers import connected, eventually, fresh_settings, roles_in_a_process
from tests.support import Stream, message, request, said, session_in

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def quiet(stack: Stack) -> Generator[Settings]:
    """A log with little in it, for whoever reads all of it."""
    settings = asyncio.run(fresh_settings(stack.settings))
    with roles_in_a_process(settings, "sequencer"):
        yield settings


class Subscriber:
    """Takes events as they come, each handled at once."""

    def __init__(self, log: Log, group: str, **more: Any) -> None:
        self.seen: list[Recorded] = []
        self._events = log.subscribe(group=group, **more)
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for recorded in self._events:
            self.seen.append(recorded)

    async def has(self, count: int) -> list[Recorded]:
        """Return what was seen once it is so many events; raise what stopped it."""

        def look() -> bool:
            if self._task.done():
                self._task.result()
            return len(self.seen) >= count

        await eventually(look, timeout_s=20)
        return list(self.seen)

    async def leave(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        closing: Any = self._events
        await closing.aclose()


def group() -> str:
    return f"group-{uuid4().hex[:8]}"


def texts(events: list[Recorded]) -> list[str]:
    return [e.data["parts"][0]["text"] for e in events if e.type == "message.added"]


async def taken(events: AsyncIterator[Recorded], count: int) -> list[Recorded]:
    """Return the next events; the last one is not acknowledged."""
    found: list[Recorded] = []
    async with asyncio.timeout(20):
        while len(found) < count:
            found.append(await anext(events))
    return found


async def left(events: AsyncIterator[Recorded]) -> None:
    closing: Any = events
    await closing.aclose()


async def test_every_event_comes_in_the_order_of_its_stream(quiet: Settings) -> None:
    async with connected(quiet) as log:
        for number in range(5):
            for session in ("s", "t"):
                await log.session(session).append(message(f"{session}{number}"))
        subscriber = Subscriber(log, group(), tenants=[log.settings.tenant])
        found = await subscriber.has(12)
        await subscriber.leave()
    for session in ("s", "t"):
        events = [e for e in found if e.stream.endswith(f"/{session}")]
        assert [e.version for e in events] == [1, 2, 3, 4, 5, 6]
        assert events[0].type == "session.started"
        assert texts(events) == [f"{session}{n}" for n in range(5)]


async def test_what_happens_later_comes_too(quiet: Settings) -> None:
    async with connected(quiet) as log:
        subscriber = Subscriber(log, group(), tenants=[log.settings.tenant])
        await log.session("s").append(message("a"))
        assert texts(await subscriber.has(2)) == ["a"]
        await log.session("s").append(message("b"))
        assert texts(await subscriber.has(3)) == ["a", "b"]
        await subscriber.leave()


async def test_types_and_tenants_choose_what_comes(quiet: Settings) -> None:
    async with connected(quiet) as log, connected(quiet) as other:
        await log.session("s").append([message("mine"), NoteSet(key="k", value=1)])
        await other.session("s").append(message("not mine"))
        await log.session("s").append(message("too"))
        subscriber = Subscriber(
            log, group(), tenants=[log.settings.tenant], types=["message.added", "note.deleted"]
        )
        found = await subscriber.has(2)
        await subscriber.leave()
    assert texts(found) == ["mine", "too"]
    assert {e.stream for e in found} == {f"session/{log.settings.tenant}/s"}


async def test_a_group_goes_on_behind_what_it_has_handled(quiet: Settings) -> None:
    name = group()
    async with connected(quiet) as log:
        session = log.session("s")
        for number in range(6):
            await session.append(message(str(number)))
        tenants = [log.settings.tenant]
        events = log.subscribe(group=name, tenants=tenants, types=["message.added"])
        assert texts(await taken(events, 3)) == ["0", "1", "2"]
        await left(events)  # before the next was asked for: the third is not handled
        events = log.subscribe(group=name, tenants=tenants, types=["message.added"])
        assert texts(await taken(events, 4)) == ["2", "3", "4", "5"]
        await left(events)


async def test_another_group_starts_where_it_is_told_to(quiet: Settings) -> None:
    async with connected(quiet) as log:
        session = log.session("s")
        await session.append(message("old"))
        tenants = [log.settings.tenant]
        early = Subscriber(log, group(), tenants=tenants, types=["message.added"])
        assert texts(await early.has(1)) == ["old"]
        late = Subscriber(log, group(), tenants=tenants, types=["message.added"], start="latest")
        numbers = iter(range(1_000))
        while not late.seen:  # it may join the group after any of them
            await session.append(message(f"new{next(numbers)}"))
        assert "old" not in texts(await late.has(1))
        await early.leave()
        await late.leave()


async def test_members_that_come_and_go_miss_nothing(quiet: Settings) -> None:
    """And what others handled meanwhile is no gap for a member that gets a partition back."""
    name = group()
    async with connected(quiet) as log:
        sessions = [log.session(f"s-{n}") for n in range(24)]
        wanted: set[tuple[str, int]] = set()

        async def write() -> None:
            for session in sessions:
                receipt = await session.append(message("x"))
                wanted.add((receipt.stream, receipt.first_version))

        def seen() -> set[tuple[str, int]]:
            return {(e.stream, e.version) for member in members for e in member.seen}

        def member() -> Subscriber:
            return Subscriber(log, name, tenants=[log.settings.tenant], types=["message.added"])

        members = [member()]
        await write()
        await eventually(lambda: seen() >= wanted, timeout_s=20)
        members.append(member())
        while not members[1].seen:
            await write()
        await eventually(lambda: seen() >= wanted, timeout_s=20)
        await members[1].leave()
        await write()
        await write()
        await eventually(lambda: seen() >= wanted, timeout_s=20)
        await members[0].has(1)
        await members[0].leave()


async def test_repeats_in_the_log_come_once_and_a_fork_stops_the_subscriber(
    fresh: Settings,
) -> None:
    stream, twin = Stream(session_in(3)), Stream(session_in(3))
    stream.accept(request(said("a")))
    stream.accept(request(said("b")))
    twin.accept(request(said("a")))
    twin.position = 7
    twin.accept(request(said("c")))
    one, two, fork = ((stream.stream.encode(), r) for r in (*stream.records, twin.records[1]))
    async with KafkaEvents(fresh) as events, connected(fresh) as log:
        await events.write({Partition(3): [one, two, one, two]})
        reading = log.subscribe(group=group())
        assert texts(await taken(reading, 2)) == ["a", "b"]
        await events.write({Partition(3): [fork]})
        with pytest.raises(IntegrityError):
            await taken(reading, 1)


async def test_the_committed_place_is_the_next_to_handle(quiet: Settings) -> None:
    name = group()
    async with connected(quiet) as log:
        receipt = await log.session("s").append([message("a"), message("b")])
        events = log.subscribe(group=name, tenants=[log.settings.tenant])
        found = await taken(events, 3)
        await left(events)
    consumer = AIOKafkaConsumer(**client_options(quiet), group_id=name, enable_auto_commit=False)
    await consumer.start()
    try:
        place = await consumer.committed(TopicPartition(quiet.events, receipt.partition))
    finally:
        await consumer.stop()
    assert place == found[-1].position


@pytest.mark.parametrize("prefix", [None, "nothing."])
async def test_without_a_broker_or_a_topic_it_says_so(quiet: Settings, prefix: str | None) -> None:
    away = replace(quiet, topic_prefix=prefix) if prefix else replace(quiet, kafka="127.0.0.1:1")
    async with connected(away) as log:
        with pytest.raises(Unavailable):
            await taken(log.subscribe(group=group()), 1)


async def test_the_start_of_a_session_comes_like_any_event(quiet: Settings) -> None:
    async with connected(quiet) as log:
        await log.session("s", user="u-7").append(message("a"))
        events = log.subscribe(group=group(), tenants=[log.settings.tenant])
        found = await taken(events, 2)
        await left(events)
        assert (found[0].type, found[0].start) == (SessionStarted.type, True)
        assert found[0].data["user"] == "u-7"
