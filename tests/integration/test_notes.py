"""Working memory on real servers: notes are what the log says, whatever becomes of the cache."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NoReturn

import pytest
from redis.asyncio import Redis

import agentjournal as aj
from agentjournal import Log
from agentjournal.ids import StreamId
from agentjournal.partitions import partition_of
from agentjournal.postgres_notes import PostgresNotes
from agentjournal.redis_notes import progress_key
from agentjournal.settings import Settings
from agentjournal.working_memory import Cached
from tests import warm
from tests.servers import cache, connected, environment_of, inside, projector, roles, sequencer

pytestmark = pytest.mark.stack

NOWHERE = "redis://127.0.0.1:1/0"


async def cached(log: Log, stream: StreamId) -> Cached | None:
    return await inside(log).notes.look(stream, partition_of(stream.encode()))


async def comes_to_be_cached(log: Log, session: aj.Session) -> None:
    """Read until the cache holds the session, and is at what the session wrote last."""
    async with asyncio.timeout(20):
        while True:
            await session.notes()
            found = await cached(log, session.stream)
            if found is not None and found.notes is not None:
                return
            await asyncio.sleep(0.02)


def refuse_read_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail whoever does not get its notes from the cache."""

    def refuse(*_: object) -> NoReturn:
        raise AssertionError("the read models were asked")

    monkeypatch.setattr(PostgresNotes, "wait_until", refuse)
    monkeypatch.setattr("agentjournal.working_memory._CACHE_WAIT_S", 10)


async def test_values_are_read_exactly_from_the_read_models_and_from_the_cache(
    journal: Settings,
) -> None:
    value = {"nul": "\0", "half": "\ud800", "n": 2**70, "bytes": b"\xff", "deep": [[{"a": None}]]}
    async with connected(journal) as log:
        session = log.session("s")
        assert await session.notes() == {}
        await session.set_note("é😀", value)
        await session.set_note("none", None)
        await session.set_note("gone", 1)
        await session.delete_note("gone")
        await session.delete_note("never there")
        assert await session.notes() == {"é😀": value, "none": None}
        await comes_to_be_cached(log, session)
        assert await session.notes() == {"é😀": value, "none": None}


async def test_what_is_cached_is_kept_up_to_date_by_the_cache_alone(
    journal: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connected(journal) as log:
        session = log.session("s")
        await session.set_note("a", 1)
        await comes_to_be_cached(log, session)
        refuse_read_models(monkeypatch)
        await session.set_note("b", 2)
        await session.set_note("a", 3)
        assert await session.notes() == {"a": 3, "b": 2}
        assert await log.session("s").notes() == {"a": 3, "b": 2}, "also for who wrote nothing"
        await session.delete_note("a")
        assert await session.notes() == {"b": 2}
        await session.end()
        assert await session.notes() == {}
        await session.append(aj.SessionResumed())
        await session.set_note("b", 4)
        assert await session.notes() == {"b": 4}


async def test_a_note_is_gone_when_its_time_has_passed(
    journal: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connected(journal) as log:
        session = log.session("s")
        receipt = await session.set_note("short", 1, ttl_s=60)
        await session.set_note("for ever", 1, ttl_s=2**62)
        await comes_to_be_cached(log, session)
        assert set(await session.notes()) == {"short", "for ever"}
        (recorded,) = [e async for e in session.events() if e.version == receipt.last_version]
        until = datetime.fromisoformat(recorded.recorded_at) + timedelta(seconds=60)
        later = replace(inside(log), now=lambda: until)
        monkeypatch.setattr(log, "_servers", later)
        assert set(await log.session("s").notes()) == {"for ever"}


async def test_without_redis_notes_are_read_all_the_same(journal: Settings) -> None:
    async with connected(journal) as log:
        await log.session("s").set_note("a", 1)
        async with connected(replace(journal, redis=NOWHERE), tenant=log.settings.tenant) as other:
            assert await other.session("s").notes() == {"a": 1}


async def test_what_redis_lost_is_read_again_and_cached_again(fresh: Settings) -> None:
    async with (
        roles(fresh, sequencer, projector, cache),
        connected(fresh) as log,
        Redis.from_url(fresh.redis) as redis,
    ):
        session = log.session("s")
        partition = partition_of(session.stream.encode())
        progress = progress_key(fresh.topic_prefix, partition)
        for n, lost in enumerate(["everything", progress, f"{progress}.{session.stream}"]):
            await session.set_note("a", n)
            await comes_to_be_cached(log, session)
            await (redis.flushall() if lost == "everything" else redis.delete(lost))
            await session.set_note("b", n)
            assert await session.notes() == {"a": n, "b": n}
        await comes_to_be_cached(log, session)
        assert await session.notes() == {"a": 2, "b": 2}


async def test_a_cache_that_is_killed_leaves_nothing_wrong(fresh: Settings) -> None:

    def started() -> warm.Forked:
        return warm.start("consumers", ["cache"], environment_of(fresh), warm.OURS)

    async with roles(fresh, sequencer, projector), connected(fresh) as log:
        session = log.session("s")
        running = started()
        try:
            await session.set_note("n", 0)
            await comes_to_be_cached(log, session)
            for n in range(20):
                await session.set_note("n", n)
                if n == 10:
                    running.send_signal(signal.SIGKILL)
                    await running.ended()
                assert await session.notes() == {"n": n}
                assert await log.session("s").notes() == {"n": n}
            running = started()
            await session.set_note("after", 1)
            await comes_to_be_cached(log, session)
            assert await session.notes() == {"n": 19, "after": 1}
        finally:
            running.send_signal(signal.SIGKILL)
            await running.ended()
