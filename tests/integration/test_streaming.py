"""Streamed messages on real servers: shown as they are written, and one event at the end."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from redis.asyncio import Redis

from agentjournal.redis_streaming import drafts_key
from agentjournal.settings import Settings
from agentjournal.streaming import PUBLISH_S
from tests.live_pages import Page, drafts_of, messages, until_kept
from tests.servers import connected, environment_of

pytestmark = pytest.mark.stack


async def test_a_fast_model_is_published_a_few_times_a_second(journal: Settings) -> None:
    async with connected(journal) as log, Redis.from_url(journal.redis) as redis:
        session = log.session("s")
        async with redis.pubsub() as pubsub:
            await pubsub.subscribe(drafts_key(journal.topic_prefix, session.stream))
            loop = asyncio.get_running_loop()
            began = loop.time()
            async with session.stream_message() as written:
                for _ in range(5_000):
                    await written.write("token ")
            took = loop.time() - began
            count = 0
            while await pubsub.get_message(timeout=0.2) is not None:
                count += 1
        assert 1 <= count - 1 <= 2 + took / PUBLISH_S  # one answers the subscription
        assert await messages(session) == [("token " * 5_000, "complete")]


DIES = """
import asyncio, sys
import agentjournal

async def main():
    async with agentjournal.connect(tenant=sys.argv[1]) as log:
        async with log.session("s").stream_message(message_id="m-1") as message:
            await message.write("Half of an ")
            await message.write("answer")
            await asyncio.sleep(3600)

asyncio.run(main())
"""


def writer_that_dies(settings: Settings, tenant: str) -> subprocess.Popen[bytes]:
    environment = environment_of(settings)
    return subprocess.Popen([sys.executable, "-c", DIES, tenant], env=environment)


async def test_a_message_whose_writer_was_killed_is_recorded_once_by_who_comes_later(
    journal: Settings,
) -> None:
    async with connected(journal) as log:
        session = log.session("s")
        writer = writer_that_dies(journal, log.settings.tenant)
        try:
            async with Page(session) as page:
                await page.shows({"m-1": "Half of an answer"}, timeout_s=60)  # it has to start
                writer.send_signal(signal.SIGKILL)
                writer.wait()
                assert [e async for e in session.events()] == []
                assert await session.record_abandoned(idle_s=3_600) == [], "it may be alive"
                async with Page(log.session("s")) as refreshed:
                    await refreshed.shows({"m-1": "Half of an answer"})
                both = [log.session("s").record_abandoned(idle_s=0) for _ in range(2)]
                receipts = {r.last_version for rs in await asyncio.gather(*both) for r in rs}
                assert receipts == {2}
                await page.has(2)
                assert page.shown == {}
            assert await messages(session) == [("Half of an answer", "incomplete")]
            assert await session.record_abandoned(idle_s=0) == []
            assert await drafts_of(log, session) == {}
        finally:
            writer.kill()
            writer.wait()


async def test_redis_may_lose_everything_in_the_middle(journal: Settings) -> None:
    async with connected(journal) as log, Redis.from_url(journal.redis) as redis:
        session = log.session("s")
        async with Page(log.session("s")) as page, session.stream_message() as written:
            name = written.message_id
            await written.write("One ")
            await page.shows({name: "One "})
            await redis.flushall()
            await written.write("two ")
            await page.shows({name: "One two "})
            await until_kept(log, session, {name: "One two "})
            await redis.client_kill_filter(_type="pubsub")
            await written.write("three")
            await page.shows({name: "One two three"})
            async with Page(log.session("s")) as late:
                await late.shows({name: "One two three"})
            await redis.flushall()
        assert await messages(session) == [("One two three", "complete")]


async def test_without_redis_there_are_events_only(journal: Settings) -> None:
    async with connected(journal) as log:
        away = replace(log.settings, redis="redis://127.0.0.1:1/0")
        async with connected(away, tenant=log.settings.tenant) as other:
            async with Page(other.session("s")) as page:
                async with log.session("s").stream_message() as written:
                    await written.write("Hello")
                await page.has(2)
                assert page.deltas == []
            assert await other.session("s").record_abandoned() == []


async def test_what_is_none_of_ours_is_left_alone(journal: Settings) -> None:
    async with connected(journal) as log, Redis.from_url(journal.redis) as redis:
        session = log.session("s")
        key = drafts_key(journal.topic_prefix, session.stream)
        for number, rubbish in enumerate([b"", b"x", b"1.2 {}", b'1.2 ["m"]', b"1.2 \xff"]):
            await redis.hset(key, str(number), rubbish)
            await redis.set(f"{key}.{number}", b"text")
        async with Page(session) as page, session.stream_message() as written:
            await written.write("Hello")
            await page.shows({written.message_id: "Hello"})
            await redis.publish(key, b"rubbish")
            await written.write(", world")
            await page.shows({written.message_id: "Hello, world"})
        assert await session.record_abandoned(idle_s=0) == []
