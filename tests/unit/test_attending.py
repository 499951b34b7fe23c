"""A service on a log in memory whose parking place fails, and is written to by others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from agentjournal import Log, Parked, Recorded, Service, Unavailable
from agentjournal.ids import StreamId
from agentjournal.subscriptions import Change
from agentjournal.testing import MemoryLog, memory_log
from tests.servers import eventually, inside
from tests.serving import AT_ONCE, Broken, Handler, eventually_parked, run
from tests.subscriber import texts
from tests.support import message

STREAM = StreamId("session/default/s")


class Away:
    """A parking place that is away for a while, and tells of what others write."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.outages = 0
        self.others: list[Change] = []
        self.said: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def park(self, parked: Parked) -> None:
        self._say("parked")
        await self._inner.park(parked)

    async def release(self, partition: Any, stream: StreamId) -> None:
        self._say("released")
        await self._inner.release(partition, stream)

    def _say(self, what: str) -> None:
        self.said.append(what)
        if self.outages:
            self.outages -= 1
            raise Unavailable("Kafka", "for a while")

    async def changes(self) -> list[Change]:
        others, self.others = self.others, []
        return [*others, *await self._inner.changes()]


def service_on(log: MemoryLog, **more: Any) -> tuple[Service, Away]:
    """Return a service, and where it parks."""
    servers: Any = inside(log)
    away = Away(servers.subscriptions.parking("x"))

    class Subscriptions:
        join = servers.subscriptions.join

        def parking(self, service: str) -> Away:
            assert service == "x"
            return away

    subscriptions: Any = Subscriptions()
    other = Log(log.settings, servers=replace(servers, subscriptions=subscriptions))
    return other.service("x", types=["message.added"], retry=AT_ONCE, **more), away


@asynccontextmanager
async def parked_at_bad() -> AsyncGenerator[tuple[MemoryLog, Service, Away, Handler]]:
    """Run a service that has stopped at a session."""
    log, handler = memory_log(), Handler()
    handler.broken = {"bad"}
    service, away = service_on(log)
    for text in ("a", "bad", "after"):
        await log.session("s").append(message(text))
    async with run(service, handler):
        await eventually_parked(service, 1)
        yield log, service, away, handler


async def test_a_session_is_parked_when_its_place_can_be_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentjournal.attending._TROUBLE_PAUSE_S", 0.01)
    log, handler = memory_log(), Handler()
    handler.broken = {"bad"}
    service, away = service_on(log)
    away.outages = 3
    await log.session("s").append([message("bad"), message("after")])
    async with run(service, handler):
        await eventually_parked(service, 1)
        assert handler.handled == []
    assert away.said == ["parked"] * 4


async def test_a_session_that_fails_again_while_its_release_is_said_stays_parked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentjournal.attending._TROUBLE_PAUSE_S", 0.01)
    async with parked_at_bad() as (log, service, away, handler):
        handler.broken = {"again"}
        release, kept = away.release, len(away.said)

        async def release_late(partition: Any, stream: StreamId) -> None:
            if texts(handler.tried).count("again") < AT_ONCE.max_attempts:
                raise Unavailable("Kafka", "until it failed again")
            await release(partition, stream)

        monkeypatch.setattr(away, "release", release_late)
        await service.redrive()
        await handler.has(3)
        await log.session("s").append(message("again"))
        await eventually(lambda: len(away.said) == kept + 2)
        (parked,) = await service.parked()
        assert (parked.version, handler.texts()) == (5, ["a", "bad", "after"])


@pytest.mark.parametrize("stream", [STREAM, StreamId("session/default/other")])
async def test_the_owner_has_the_last_word_on_its_sessions(stream: StreamId) -> None:
    async with parked_at_bad() as (_, service, away, _):
        (parked,) = await service.parked()
        before = len(away.said)
        away.others = [Change(parked.partition, stream, is_asked=False)]
        await eventually(lambda: len(away.said) > before)
        assert away.said[before:] == ["parked" if stream == STREAM else "released"]
        assert await service.parked() == [parked]


async def test_a_session_goes_on_though_its_log_cannot_be_read_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentjournal.attending._TROUBLE_PAUSE_S", 0.01)
    async with parked_at_bad() as (log, service, away, handler):
        handler.broken, away.outages = set(), 2
        members: Any = inside(log).subscriptions
        member = members._members[0]
        read, outages = member.read, [1, 2]

        async def read_later(*span: Any) -> AsyncGenerator[Recorded]:
            if outages:
                outages.pop()
                raise Unavailable("Kafka", "for a while")
            async for recorded in read(*span):
                yield recorded

        member.read = read_later
        await service.redrive()
        await eventually_parked(service, 0)
        await log.session("s").append(message("last"))
        assert await handler.has(4) == ["a", "bad", "after", "last"]
    assert away.said == ["parked", "released", "released", "released"]


async def test_one_that_was_asked_for_and_fails_again_waits_to_be_asked_for_again() -> None:
    async with parked_at_bad() as (_, service, away, _):
        (asked,) = await service.redrive()
        await eventually(lambda: len(away.said) > 1)
        async with asyncio.timeout(10):
            while (await away.follow([asked.partition])).asked:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0)
        assert away.said == ["parked", "parked"]


async def test_who_waits_for_a_turn_is_not_begun_once_it_stops_and_comes_next_time() -> None:
    log, begun, goes_on = memory_log(), list[StreamId](), asyncio.Event()
    service, _ = service_on(log, concurrency=1)

    async def slowly(recorded: Recorded) -> None:
        begun.append(recorded.stream)
        await goes_on.wait()

    for name in ("s", "t"):
        await log.session(name).append(message("a"))
    async with run(service, slowly):
        await eventually(lambda: begun)
        await asyncio.sleep(0)  # the other one waits for its turn
        service.stop()
        goes_on.set()
    assert len(begun) == 1
    async with run(service, slowly):
        await eventually(lambda: len(begun) == 2)
    assert set(begun) == {STREAM, "session/default/t"}


async def test_what_is_in_the_log_twice_is_handled_once_when_a_session_goes_on() -> None:
    async with parked_at_bad() as (log, service, _, handler):
        handler.broken = set()
        members: Any = inside(log).subscriptions
        member = members._members[0]
        read = member.read

        async def read_twice(*span: Any) -> AsyncGenerator[Recorded]:
            async for recorded in read(*span):
                yield recorded
                yield recorded

        member.read = read_twice
        await service.redrive()
        await eventually_parked(service, 0)
        assert handler.texts() == ["a", "bad", "after"]


async def test_a_partition_is_read_no_further_while_too_much_of_it_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentjournal.attending._MOST_HELD", 20)
    log, goes_on = memory_log(), asyncio.Event()
    handled: list[int] = []

    async def handle(recorded: Recorded) -> None:
        await goes_on.wait()
        handled.append(recorded.version)

    for _ in range(30):
        await log.session("s").append([message(str(n)) for n in range(100)])
    service, _ = service_on(log)
    members: Any = inside(log).subscriptions
    async with run(service, handle):
        await eventually(lambda: members._members and members._members[0]._paused)
        (read,) = {at for at in members._members[0]._next.values() if at}
        assert read <= 1_001
        goes_on.set()
        await eventually(lambda: len(handled) == 3_000)
    assert handled == list(range(2, 3_002))


async def test_what_is_cancelled_within_a_handler_is_an_error_and_holds_nobody_back() -> None:
    log = memory_log()
    handled: list[str] = []

    async def handle(recorded: Recorded) -> None:
        if (text := texts([recorded])[0]) == "bad":
            inner = asyncio.create_task(asyncio.Event().wait())
            inner.cancel()
            await inner
        handled.append(text)

    service, _ = service_on(log)
    await log.session("s").append([message("bad"), message("after")])
    async with run(service, handle):
        await eventually_parked(service, 1)
        (parked,) = await service.parked()
        await log.session("other").append(message("next"))
        await eventually(lambda: handled == ["next"])
    assert (parked.stream, parked.version, parked.attempts) == (STREAM, 2, 3)
    assert parked.error == "RuntimeError: what the handler waited for was cancelled"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Broken(), "Broken"),
        (TimeoutError("of its own"), "TimeoutError: of its own"),
        (Broken("x" * 2_000), "Broken: " + "x" * 992),  # a thousand characters
    ],
)
async def test_what_a_session_was_parked_for_is_the_error_of_the_handler(
    error: Exception, said: str
) -> None:
    async def handle(_: Recorded) -> None:
        raise error

    log = memory_log()
    service, _ = service_on(log)
    await log.session("s").append(message("bad"))
    async with run(service, handle):
        await eventually_parked(service, 1)
        (parked,) = await service.parked()
    assert parked.error == said


async def test_a_handler_that_is_not_async_ends_the_service_and_parks_nothing() -> None:
    log, called = memory_log(), list[int]()

    def bill(recorded: Recorded) -> None:
        called.append(recorded.version)

    service, away = service_on(log)
    await log.session("s").append([message("a"), message("b")])
    handler: Any = bill
    async with asyncio.timeout(10):
        with pytest.raises(TypeError, match=r"bill returned a NoneType.*`async def`"):
            await service.run(handler)
    assert called == [2]
    assert away.said == []
