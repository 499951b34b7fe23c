"""Reading: as it was written, as it was, or an error that says why."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import orjson
import pytest

from agentjournal import (
    Log,
    MessageAdded,
    SessionNotFound,
    ToolCompleted,
    VersionNotFound,
)
from tests.clients import Clients
from tests.support import message

EXTREMES = {
    "nan": math.nan,
    "infinity": -math.inf,
    "large": 2**200,
    "nul": "a\0b",
    "half": "\ud800",
    "bytes": b"\0\xff",
    "escape": {"$int": "1"},
    "nested": [[[{"a": [{}]}]]],
}


async def test_extreme_values_survive_exactly(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        text = "a\0b\ud800😀\\u0000"
        await session.append(
            [
                MessageAdded(role="user", content=text),
                ToolCompleted(call_id="c", output="", result=EXTREMES, duration_ms=0),
            ]
        )
        state = await log.session("s").load()
        assert state.messages[0].text == text
        assert ascii(state.calls["c"].result) == ascii(EXTREMES)


@asynccontextmanager
async def with_sessions(clients: Clients, count: int) -> AsyncGenerator[Log]:
    async with clients.connected() as log:
        receipt = None
        for number in range(count):
            session = log.session(f"s-{number:02}", user=f"u-{number % 2}")
            receipt = await session.append(message("x"))
            if number % 3 == 0:
                receipt = await session.end()
            await log.caught_up(receipt)
        assert receipt is not None
        yield log


async def test_sessions_come_in_pages_the_latest_active_first(clients: Clients) -> None:
    async with with_sessions(clients, 11) as log:
        every = [info.session_id async for info in log.sessions()]
        assert every == [f"s-{n:02}" for n in reversed(range(11))]
        paged: list[str] = []
        while True:
            last = paged[-1] if paged else None
            page = [info.session_id async for info in log.sessions(limit=4, after=last)]
            assert len(page) == min(4, 11 - len(paged))
            if not page:
                break
            paged += page
        assert paged == every
        mine = [info.session_id async for info in log.sessions(user="u-1", status="ended")]
        assert mine == ["s-09", "s-03"]
        assert [info async for info in log.sessions(limit=0)] == []


async def test_a_session_is_described_by_what_its_events_say(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s", user="u-7", agent="support", title="Refund")
        await log.caught_up(await session.append([message("a"), message("b")]))
        [info] = [info async for info in log.sessions()]
        assert (info.tenant, info.session_id, info.user_id) == (log.settings.tenant, "s", "u-7")
        assert (info.agent, info.title, info.status) == ("support", "Refund", "open")
        assert (info.version, info.messages, info.open_calls) == (3, 2, 0)
        assert info.started_at is not None
        assert info.started_at <= info.last_activity_at


async def test_a_session_is_loaded_as_it_was_at_a_version_or_a_moment(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        await session.append(message("a"))
        await session.append(message("b"))
        await session.append(message("c"))
        events = [e async for e in session.events()]
        for version in range(5):
            state = await session.load(at=version)
            assert (state.version, len(state.messages)) == (version, max(0, version - 1))
            assert (state.summary.version, state.summary.last_version) == (version, 4)
        for event in events:
            state = await session.load(at=datetime.fromisoformat(event.recorded_at))
            latest = [e.version for e in events if e.recorded_at <= event.recorded_at]
            assert state.version == latest[-1]
        assert (await session.load(at=datetime(2000, 1, 1, tzinfo=UTC))).version == 0
        later = datetime.now(UTC) + timedelta(days=1)
        assert (await session.load(at=later)).version == 4


async def test_a_place_that_there_is_not_is_said(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        await session.append([message("a"), message("b")])
        for reading in (session, log.session("s")):
            for fresh in (True, False):
                with pytest.raises(VersionNotFound, match="its last one is version 3"):
                    await reading.load(at=4, fresh=fresh)
        with pytest.raises(SessionNotFound):
            await log.session("other").load(at=1)
        with pytest.raises(ValueError, match="at=-1 is below 0"):
            await session.load(at=-1)
        with pytest.raises(ValueError, match="has no zone"):
            await session.load(at=datetime(2000, 1, 1))  # noqa: DTZ001 - that is the fault


async def test_each_load_is_one_line_of_the_log(
    clients: Clients, caplog: pytest.LogCaptureFixture
) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        await session.append(message("secret"))
        with caplog.at_level(logging.INFO, logger="agentjournal"):
            await session.load()
            await session.load(at=1)
        lines = [orjson.loads(r.message) for r in caplog.records if r.name == "agentjournal"]
        assert [(line["event"], line["version"]) for line in lines] == [
            ("session_loaded", 2),
            ("session_loaded", 1),
        ]
        assert {line["stream"] for line in lines} == {session.stream}
        assert "secret" not in caplog.text


async def test_events_are_followed_as_they_are_recorded(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        await session.append(message("a"))
        following = session.events(after=1, follow=True)
        async with asyncio.timeout(10):
            assert (await anext(following)).version == 2
            await session.append(message("b"))
            assert (await anext(following)).data["message_id"] == "m-b"
        await following.aclose()  # type: ignore[attr-defined]
