"""Subscriptions: at least once, in order, and taken up where the group left off."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from pathlib import Path

import pytest

from agentjournal import NoteSet, SessionStarted
from agentjournal.settings import Settings
from local.stack import Stack
from tests.clients import Clients, InMemory, OfServers
from tests.servers import eventually, fresh_settings, roles_in_a_process
from tests.subscriber import Subscriber, group, left, taken, texts
from tests.support import message


@pytest.fixture(scope="module")
def quiet(stack: Stack) -> Generator[Settings]:
    """A log with little in it, for whoever reads all of it."""
    settings = asyncio.run(fresh_settings(stack.settings))
    with roles_in_a_process(settings, "sequencer"):
        yield settings


@pytest.fixture(params=["memory", pytest.param("servers", marks=pytest.mark.stack)])
def clients(request: pytest.FixtureRequest, tmp_path: Path) -> Clients:
    """Return what connects to a log with little in it."""
    if request.param == "memory":
        return InMemory()
    return OfServers(request.getfixturevalue("quiet"), tmp_path)


async def test_every_event_comes_in_the_order_of_its_stream(clients: Clients) -> None:
    async with clients.connected() as log:
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


async def test_what_happens_later_comes_too(clients: Clients) -> None:
    async with clients.connected() as log:
        subscriber = Subscriber(log, group(), tenants=[log.settings.tenant])
        await log.session("s").append(message("a"))
        assert texts(await subscriber.has(2)) == ["a"]
        await log.session("s").append(message("b"))
        assert texts(await subscriber.has(3)) == ["a", "b"]
        await subscriber.leave()


async def test_types_and_tenants_choose_what_comes(clients: Clients) -> None:
    async with clients.connected() as log, clients.connected() as other:
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


async def test_a_group_goes_on_behind_what_it_has_handled(clients: Clients) -> None:
    name = group()
    async with clients.connected() as log:
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


async def test_another_group_starts_where_it_is_told_to(clients: Clients) -> None:
    async with clients.connected() as log:
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


async def test_members_that_come_and_go_miss_nothing(clients: Clients) -> None:
    """And what others handled meanwhile is no gap for a member that gets a partition back."""
    name = group()
    async with clients.connected() as log:
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


async def test_the_start_of_a_session_comes_like_any_event(clients: Clients) -> None:
    async with clients.connected() as log:
        await log.session("s", user="u-7").append(message("a"))
        events = log.subscribe(group=group(), tenants=[log.settings.tenant])
        found = await taken(events, 2)
        await left(events)
        assert (found[0].type, found[0].start) == (SessionStarted.type, True)
        assert found[0].data["user"] == "u-7"
