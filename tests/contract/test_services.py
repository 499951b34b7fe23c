"""Services: every event is handled, a session at a time; what fails stops nobody else."""

from __future__ import annotations

import asyncio

import pytest

from agentjournal import Log, NotParked, Recorded, Retry, TooManyParked
from agentjournal.ids import StreamId
from tests.clients import Clients
from tests.servers import eventually
from tests.serving import AT_ONCE, Broken, Handler, eventually_parked, run, service_of, until
from tests.subscriber import group
from tests.support import message


async def said(log: Log, session: str, *texts: str) -> None:
    for text in texts:
        await log.session(session).append(message(text))


def stream(log: Log, session: str) -> StreamId:
    return StreamId(f"session/{log.settings.tenant}/{session}")


async def test_every_event_is_handled_in_the_order_of_its_session(clients: Clients) -> None:
    async with clients.connected() as log:
        await said(log, "s", "a", "b")
        await said(log, "t", "x")
        handler = Handler()
        async with run(service_of(log), handler):
            await handler.has(3)
            await said(log, "s", "c")
            await said(log, "t", "y")
            await handler.has(5)
    assert handler.texts("s") == ["a", "b", "c"]
    assert handler.texts("t") == ["x", "y"]


async def test_it_goes_on_behind_what_it_has_handled(clients: Clients) -> None:
    name, first, second = group(), Handler(), Handler()
    async with clients.connected() as log:
        await said(log, "s", "a", "b")
        async with run(service_of(log, name), first):
            await first.has(2)
        await said(log, "s", "c")
        async with run(service_of(log, name), second):
            assert await second.has(1) == ["c"]


async def test_a_handler_that_fails_is_tried_again(clients: Clients) -> None:
    async with clients.connected() as log:
        await said(log, "s", "a", "b")
        handler = Handler()

        async def second_time(recorded: Recorded) -> None:
            if recorded.version == 2 and len(handler.tried) < 2:
                handler.tried.append(recorded)
                raise Broken
            await handler(recorded)

        service = service_of(log)
        async with run(service, second_time):
            assert await handler.has(2) == ["a", "b"]
        assert await service.parked() == []


async def test_a_session_it_fails_for_is_parked_and_the_others_go_on(clients: Clients) -> None:
    async with clients.connected() as log:
        await said(log, "s", "a", "bad", "after")
        await said(log, "t", "x")
        handler, service = Handler(), service_of(log)
        handler.broken = {"bad"}
        async with run(service, handler):
            await eventually_parked(service, 1)
            await said(log, "s", "later")
            await said(log, "t", "y")
            await handler.has(3)
            (parked,) = await service.parked()
        assert handler.texts("s") == ["a"]
        assert handler.texts("t") == ["x", "y"]
    bad = [e for e in handler.tried if (e.stream, e.version) == (parked.stream, 3)]
    assert len(bad) == AT_ONCE.max_attempts
    assert (parked.stream, parked.version) == (stream(log, "s"), 3)
    assert parked.event_id == bad[0].id
    assert (parked.error, parked.attempts) == ("Broken: not bad", 3)
    assert (parked.partition, parked.position) == (bad[0].partition, bad[0].position)


async def test_a_parked_session_goes_on_from_where_it_stopped(clients: Clients) -> None:
    async with clients.connected() as log:
        await said(log, "s", "a", "bad", "after")
        handler, service = Handler(), service_of(log)
        handler.broken = {"bad"}
        async with run(service, handler):
            await eventually_parked(service, 1)
            await said(log, "s", "later")
            handler.broken = set()
            (asked,) = await service.redrive(stream(log, "s"))
            assert asked.version == 3
            await handler.has(4)
            await said(log, "s", "last")
            assert await handler.has(5) == ["a", "bad", "after", "later", "last"]
            await eventually_parked(service, 0)


async def test_one_that_fails_again_is_parked_where_it_fails_then(clients: Clients) -> None:
    async with clients.connected() as log:
        await said(log, "s", "bad", "good", "worse", "after")
        handler, service = Handler(), service_of(log)
        handler.broken = {"bad", "worse"}
        async with run(service, handler):
            await eventually_parked(service, 1)
            handler.broken = {"worse"}
            await service.redrive()
            assert await handler.has(2) == ["bad", "good"]
            await until(service, lambda found: found[0].version == 4)
            await said(log, "s", "later")
            handler.broken = set()
            await service.redrive()
            assert await handler.has(5) == ["bad", "good", "worse", "after", "later"]


async def test_what_is_parked_stays_parked_and_what_is_asked_is_done_when_one_starts(
    clients: Clients,
) -> None:
    name, handler = group(), Handler()
    async with clients.connected() as log:
        await said(log, "s", "bad", "after")
        handler.broken = {"bad"}
        service = service_of(log, name)
        async with run(service, handler):
            await eventually_parked(service, 1)
        await said(log, "s", "later")
        await said(log, "t", "x")
        handler.broken = set()
        async with run(service_of(log, name), handler):
            assert await handler.has(1) == ["x"]
        await service.redrive()
        async with run(service_of(log, name), handler):
            assert await handler.has(4) == ["x", "bad", "after", "later"]


async def test_a_handler_that_hangs_stops_its_own_session_alone(clients: Clients) -> None:
    async with clients.connected() as log:
        await said(log, "s", "hangs", "after")
        await said(log, "t", "x", "y")
        handler = Handler()
        handler.hangs = {"hangs"}
        once = Retry(max_attempts=1)
        service = service_of(log, timeout_s=0.3, concurrency=2, retry=once)
        async with run(service, handler):
            assert await handler.has(2) == ["x", "y"]
            await eventually_parked(service, 1)
            assert (await service.parked())[0].error == "TimeoutError: no end within 0.3 s"


async def test_what_is_handled_when_it_stops_is_finished(clients: Clients) -> None:
    name, begun, goes_on = group(), asyncio.Event(), asyncio.Event()
    ended: list[int] = []

    async def slowly(recorded: Recorded) -> None:
        begun.set()
        await goes_on.wait()
        ended.append(recorded.version)

    async with clients.connected() as log:
        await said(log, "s", "a", "b")
        service = service_of(log, name)
        running = asyncio.create_task(service.run(slowly))
        await begun.wait()
        service.stop()
        goes_on.set()
        await running
        assert ended == [2]
        async with run(service_of(log, name), slowly):
            await eventually(lambda: ended == [2, 3], timeout_s=20)


async def test_errors_that_are_not_to_be_tried_again_park_at_once(clients: Clients) -> None:
    async with clients.connected() as log:
        await said(log, "s", "bad")
        handler = Handler()
        handler.broken = {"bad"}
        service = service_of(log, retry=Retry(max_attempts=9, on=["OSError"]))
        async with run(service, handler):
            await eventually_parked(service, 1)
    assert len(handler.tried) == 1


async def test_too_many_parked_end_it_and_nothing_is_skipped(clients: Clients) -> None:
    name, handler = group(), Handler()
    async with clients.connected() as log:
        handler.broken = {"bad"}
        for session in ("s", "t"):
            await said(log, session, "bad")
        service = service_of(log, name, most_parked=1)
        with pytest.raises(TooManyParked) as raised:
            await service.run(handler)
        assert (raised.value.parked, raised.value.error) == (1, "Broken: not bad")
        (parked,) = await service.parked()
        handler.broken = set()
        async with run(service_of(log, name, most_parked=1), handler):
            await handler.has(1)
            await service.redrive()
            assert await handler.has(2) == ["bad", "bad"]
        assert handler.handled[0].stream != parked.stream


async def test_only_what_is_parked_can_be_asked_for(clients: Clients) -> None:
    async with clients.connected() as log:
        service = service_of(log)
        assert await service.redrive() == []
        with pytest.raises(NotParked, match="session/t/nothing"):
            await service.redrive("session/t/nothing")


async def test_processes_of_one_name_share_the_work_and_miss_nothing(clients: Clients) -> None:
    name, one, two = group(), Handler(), Handler()
    async with clients.connected() as log:
        sessions = [f"s-{n}" for n in range(16)]
        written: set[tuple[StreamId, int]] = set()

        async def write(text: str) -> None:
            appends = (log.session(each).append(message(text)) for each in sessions)
            for session, receipt in zip(sessions, await asyncio.gather(*appends), strict=True):
                written.add((stream(log, session), receipt.last_version))

        def is_all_handled() -> bool:
            return written <= {(e.stream, e.version) for e in [*one.handled, *two.handled]}

        await write("a")
        async with run(service_of(log, name), one):
            await one.has(16)
            async with run(service_of(log, name), two):
                numbers = iter(range(1_000))
                while not two.handled:
                    await write(str(next(numbers)))
                await write("last")
                await eventually(is_all_handled, timeout_s=20)
            await write("alone")
            await eventually(is_all_handled, timeout_s=20)
        assert {each.stream for each in two.handled} < {stream(log, each) for each in sessions}
