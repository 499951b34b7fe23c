"""Appending: what is acknowledged is recorded once, and in order."""

from __future__ import annotations

import asyncio

import pytest

from agentjournal import (
    CustomEvent,
    Event,
    MessageAdded,
    SessionMismatch,
    SessionNotFound,
    Unavailable,
    VersionConflict,
)
from tests.clients import Clients
from tests.servers import unsettled
from tests.support import message


async def test_an_append_begins_the_session_and_has_a_receipt(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s é/😀", user="u-7", agent="support", task="t-1", title="Refund")
        receipt = await session.append([message("a"), message("b")], append_id="first")
        assert receipt.stream == session.stream
        assert (receipt.first_version, receipt.last_version) == (2, 3)
        assert (receipt.duplicate, receipt.append_id) == (False, "first")
        state = await session.load()
        assert (state.version, state.user, state.agent, state.title) == (
            *(3, "u-7", "support"),
            "Refund",
        )
        assert [m.text for m in state.messages] == ["a", "b"]


async def test_making_a_handle_writes_nothing(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        with pytest.raises(SessionNotFound) as missing:
            await session.load()
        assert missing.value.stream == session.stream
        assert [info async for info in log.sessions()] == []


async def test_expected_version_0_makes_a_new_session_and_no_old_one(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        await session.append(message("a"), expected_version=0)
        with pytest.raises(VersionConflict) as conflict:
            await log.session("s").append(message("b"), expected_version=0)
        assert conflict.value.actual_version == 2


async def test_ten_writers_who_expect_a_version_lose_nothing(clients: Clients) -> None:
    async with clients.connected() as log, clients.connected(tenant=log.settings.tenant) as other:
        await log.session("s").append(CustomEvent("custom.count", {"n": 0}))

        ahead: list[int] = []

        async def count_up(writer: int) -> None:
            session = (log, other)[writer % 2].session("s")
            while True:
                events = [e async for e in session.events()]
                counted = CustomEvent("custom.count", {"n": events[-1].data["n"] + 1})
                try:
                    await session.append(counted, expected_version=events[-1].version)
                except VersionConflict as conflict:
                    ahead.append(conflict.actual_version - events[-1].version)
                else:
                    return

        await asyncio.gather(*(count_up(writer) for writer in range(10)))
        counts = [e.data["n"] async for e in log.session("s").events(after=1)]
        assert counts == list(range(11))
        assert all(versions > 0 for versions in ahead)


async def test_ten_writers_who_expect_nothing_all_land(clients: Clients) -> None:
    async with clients.connected() as log:
        texts = [f"{writer}-{n}" for writer in range(10) for n in range(10)]

        async def write(writer: int) -> None:
            session = log.session("s")
            for n in range(10):
                await session.append(message(f"{writer}-{n}"))

        await asyncio.gather(*(write(writer) for writer in range(10)))
        found = [m.text for m in (await log.session("s").load()).messages]
        assert sorted(found) == sorted(texts)
        for writer in range(10):
            mine = [text for text in found if text.startswith(f"{writer}-")]
            assert mine == [f"{writer}-{n}" for n in range(10)]


async def test_what_is_enqueued_keeps_its_order(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        pending = [await session.enqueue(message(str(n))) for n in range(500)]
        last = await session.append(message("last"))
        receipts = [await each.receipt() for each in pending]
        assert [r.first_version for r in receipts] == list(range(2, 502))
        assert last.first_version == 502
        found = [m.text for m in (await session.load()).messages]
        assert found == [*map(str, range(500)), "last"]
        assert unsettled(log) == []


async def test_appends_made_at_once_through_one_handle_keep_their_order(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        receipts = await asyncio.gather(*(session.append(message(str(n))) for n in range(200)))
        assert [r.first_version for r in receipts] == list(range(2, 202))


async def test_an_append_that_expects_a_version_waits_for_those_before_it(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        first = await session.enqueue(message("a"))
        receipt = await session.append(message("b"), expected_version=2)
        assert (await first.receipt()).first_version == 2
        assert receipt.first_version == 3


async def test_an_enqueued_append_tells_of_its_refusal_when_asked(clients: Clients) -> None:
    async with clients.connected() as log:
        await log.session("s", user="u-7").append(message("a"))
        pending = await log.session("s", user="u-8").enqueue(message("b"), append_id="x")
        assert pending.append_id == "x"
        with pytest.raises(SessionMismatch):
            await pending.receipt()


async def test_the_largest_append_is_taken(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        large = MessageAdded(role="user", content="x" * 890_000)
        assert (await session.append(large)).last_version == 2
        many: list[Event] = [message(str(n)) for n in range(1_000)]
        assert (await session.append(many)).last_version == 1_002
        assert len((await session.load()).messages) == 1_001


async def test_a_closed_log_takes_nothing_more(clients: Clients) -> None:
    async with clients.connected() as log:
        await log.session("s").append(message("first"))
    with pytest.raises(Unavailable, match="closed"):
        async with asyncio.timeout(1):
            await log.session("s").append(message("second"))
