"""Streamed messages on real servers: shown as they are written, and one event at the end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from redis.asyncio import Redis

from agentjournal import (
    AppendRejected,
    Log,
    MessageAbandoned,
    MessageAdded,
    Session,
    TextPart,
)
from agentjournal.events import Event
from agentjournal.redis_streaming import drafts_key
from agentjournal.settings import Settings
from agentjournal.streaming import PUBLISH_S
from local.roles import python_path
from tests.live_pages import Page
from tests.servers import connected, inside
from tests.support import message

pytestmark = pytest.mark.stack

HOSTILE = ["", "a\0b", "\ud83d", "\ude00", '{"$text": [1]}', "\U0001f600", "\x1b[2J\r\n", "\udfff"]


async def messages(session: Session) -> list[tuple[str, str]]:
    return [(m.text, m.status) for m in (await session.load()).messages]


async def drafts_of(log: Log, session: Session) -> dict[str, str]:
    """Return what is kept of messages that are being written, by their ids."""
    kept = await inside(log).live.drafts.kept([session.stream])
    return {each.draft.message_id: each.text for each in kept.get(session.stream, ())}


async def test_a_message_is_shown_as_it_is_written_and_recorded_once(journal: Settings) -> None:
    async with connected(journal) as log:
        session = log.session("s")
        async with Page(log.session("s")) as page:
            async with session.stream_message() as written:
                await written.write("Hello")
                await page.shows({written.message_id: "Hello"})
                assert [e async for e in session.events()] == []
                await written.write(", world")
                await page.shows({written.message_id: "Hello, world"})
            await page.has(2)
            assert page.shown == {}
        assert await messages(session) == [("Hello, world", "complete")]
        assert written.receipt is not None
        assert written.receipt.last_version == 2
        assert await drafts_of(log, session) == {}


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


async def test_any_text_survives_exactly(journal: Settings) -> None:
    async with connected(journal) as log:
        session = log.session("s")
        async with session.stream_message() as written:
            for piece in HOSTILE:
                await written.write(piece)
            whole = {written.message_id: "".join(HOSTILE)}
            async with Page(log.session("s")) as page:
                await page.shows(whole)
            await until_kept(log, session, whole)
        assert await messages(session) == [("".join(HOSTILE), "complete")]


async def until_kept(log: Log, session: Session, whole: dict[str, str]) -> None:
    async with asyncio.timeout(10):
        while await drafts_of(log, session) != whole:  # noqa: ASYNC110 - what is kept says nothing
            await asyncio.sleep(0)


async def test_what_there_was_is_recorded_when_the_writer_is_cancelled(journal: Settings) -> None:
    async with connected(journal) as log:
        session = log.session("s")
        writing = asyncio.Event()

        async def write() -> None:
            async with session.stream_message() as written:
                await written.write("I will ")
                writing.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(write())
        await writing.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await messages(session) == [("I will ", "incomplete")]


async def test_closing_the_log_waits_for_a_message_that_is_being_recorded(
    journal: Settings,
) -> None:
    async with connected(journal) as log:
        tenant, session = log.settings.tenant, log.session("s")
        writing = asyncio.Event()

        async def write() -> None:
            async with session.stream_message() as written:
                await written.write("I will ")
                writing.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(write())
        await writing.wait()
        while not task.done():
            task.cancel()  # as frameworks do that cancel until everything has ended
            await asyncio.sleep(0)
    async with connected(journal, tenant=tenant) as log:
        assert await messages(log.session("s")) == [("I will ", "incomplete")]


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
    environment = os.environ | {
        "AGENTJOURNAL_KAFKA": settings.kafka,
        "AGENTJOURNAL_POSTGRES": settings.postgres,
        "AGENTJOURNAL_REDIS": settings.redis,
        "AGENTJOURNAL_TOPIC_PREFIX": settings.topic_prefix,
        "PYTHONPATH": python_path(),
    }
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


async def test_a_writer_that_was_taken_for_dead_changes_nothing(journal: Settings) -> None:
    async with connected(journal) as log:
        session = log.session("s")
        written = session.stream_message()

        async def write() -> None:
            async with written:
                await written.write("Half")
                await until_kept(log, session, {written.message_id: "Half"})
                await log.session("s").record_abandoned(idle_s=0)
                await written.write(" and the rest")

        with pytest.raises(MessageAbandoned):
            await write()
        assert await messages(session) == [("Half", "incomplete")]
        assert await drafts_of(log, session) == {}


async def test_a_draft_that_was_recorded_is_not_shown_again_nor_recorded(
    journal: Settings,
) -> None:
    """Its writer may have died before it could drop it; however long ago that was."""
    async with connected(journal) as log:
        session = log.session("s")
        async with session.stream_message() as written:
            await written.write("a")
            await until_kept(log, session, {written.message_id: "a"})
            kept = (await inside(log).live.drafts.kept([session.stream]))[session.stream][0]
        drafts = inside(log).live.drafts
        await drafts.put(session.stream, kept.draft, kept.text, 0)
        async with Page(log.session("s"), after=2) as page:
            await session.append(message("next"))
            await page.has(1)
            assert page.deltas == []
        assert await session.record_abandoned(idle_s=0) == []
        assert await drafts_of(log, session) == {}
        assert await messages(session) == [("a", "complete"), ("next", "complete")]


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


def starred(event: Event) -> Event:
    is_message = isinstance(event, MessageAdded)
    return event.model_copy(update={"parts": [TextPart(text="***")]}) if is_message else event


async def test_what_is_redacted_is_not_streamed_unless_told_to(journal: Settings) -> None:
    async with connected(journal) as log:
        await log.session("s").append(message("a"))
        async with (
            connected(journal, tenant=log.settings.tenant, redact=starred) as careful,
            Page(log.session("s"), after=2) as page,
        ):
            session = careful.session("s")
            async with session.stream_message() as written:
                await written.write("secret")
                assert await drafts_of(log, session) == {}
            await page.has(1)
            assert page.deltas == []
            async with session.stream_message(unredacted=True) as written:
                await written.write("secret")
                await page.shows({written.message_id: "secret"})
        assert (await messages(log.session("s")))[1:] == [("***", "complete")] * 2


async def test_what_could_not_be_recorded_is_refused_before_anything_is_written(
    journal: Settings,
) -> None:
    role: Any = "robot"
    async with connected(journal) as log:
        with pytest.raises(AppendRejected) as refused:
            log.session("s").stream_message(role)
        assert refused.value.path == "role"
        with pytest.raises(AppendRejected) as refused:
            log.session("s").stream_message(message_id="a\nb")
        assert refused.value.path == "message_id"
        with pytest.raises(ValueError, match="after=-1 is below 0"):
            log.session("s").live(after=-1)
