"""Following sessions on real servers: what all of a process share, and who is slow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from redis.asyncio import Redis

from agentjournal import Delta, NoteDeleted, Recorded, StreamParked, Unavailable
from agentjournal.settings import Settings
from agentjournal.tails import MOST_EVENTS
from tests.live_pages import Page
from tests.servers import connected, eventually, inside, projector, query, roles, sequencer
from tests.support import message

pytestmark = pytest.mark.stack


async def next_of(items: AsyncGenerator[Recorded | Delta], count: int) -> list[Recorded | Delta]:
    async with asyncio.timeout(30):
        return [await anext(items) for _ in range(count)]


async def versions(items: AsyncGenerator[Recorded | Delta], count: int) -> list[int]:
    found = await next_of(items, count)
    return [item.version for item in found if isinstance(item, Recorded)]


async def connections(settings: Settings) -> tuple[int, int]:
    """Return how many clients there are of Postgres and of Redis."""
    named = "SELECT FROM pg_stat_activity WHERE application_name = 'agentjournal client'"
    async with Redis.from_url(settings.redis) as redis:
        return len(await query(settings, named)), len(await redis.client_list())


async def test_a_thousand_followers_in_a_process_share_one_reader(journal: Settings) -> None:
    before = await connections(journal)
    async with connected(journal) as log:
        writers = [log.session(f"s-{n}") for n in range(20)]
        await asyncio.gather(*(writer.append(message("a")) for writer in writers))
        pages = [Page(log.session(f"s-{n % 20}")) for n in range(1_000)]
        for page in pages:
            await page.__aenter__()
        for page in pages:
            await page.has(2)
        streamed = writers[0].stream_message()
        async with streamed as written:
            await written.write("Hello")
            for page in pages[::20]:
                await page.shows({written.message_id: "Hello"})
            await log.caught_up(await writers[1].append(message("b")))
            for page in pages[1::20]:
                await page.has(3)
            # Those of one client for appends, reading and Redis, however many follow.
            postgres, redis = await connections(journal)
            assert postgres - before[0] <= 4
            assert redis - before[1] <= 1 + 1 + 8 + 8
            live = inside(log).live
            assert live.followed == {writer.stream for writer in writers}
        for page in pages[::20]:
            await page.has(3)
            assert page.shown == {}
        assert all(page.deltas == [] for n, page in enumerate(pages) if n % 20)
        for page in pages:
            await page.__aexit__(None, None, None)
        assert live.followed == set()


async def test_who_is_slow_misses_nothing_and_holds_up_nobody(journal: Settings) -> None:
    async with connected(journal) as log:
        session = log.session("s")
        await session.append(message("a"))
        async with aclosing(session.live()) as slow, Page(log.session("s")) as quick:
            assert await versions(slow, 2) == [1, 2]
            count = MOST_EVENTS + 50
            for _ in range(2):
                await session.append([NoteDeleted(key="k")] * count)
            await quick.has(2 + 2 * count)
            assert await versions(slow, 2 * count) == list(range(3, 3 + 2 * count))
            async with session.stream_message() as written:
                for word in ("One ", "two ", "three"):
                    await written.write(word)
                    await quick.shows({written.message_id: quick_text(quick) + word})
                whole = Delta(written.message_id, "assistant", "One two three", 0)
                assert await next_of(slow, 1) == [whole]


def quick_text(page: Page) -> str:
    return "".join(page.shown.values())


async def test_large_values_come_whole(journal: Settings, tmp_path: Path) -> None:
    async with connected(replace(journal, artifacts=str(tmp_path))) as log:
        session = log.session("s")
        async with Page(session) as page, session.stream_message() as written:
            await written.write("long " * 50_000)
            await page.shows({written.message_id: "long " * 50_000})
            await written.finish()
            await page.has(2)
        assert page.events[1].data["parts"][0]["text"] == "long " * 50_000


async def test_a_stream_that_is_parked_says_so(fresh: Settings) -> None:
    async with roles(fresh, sequencer, projector), connected(fresh) as log:
        session = log.session("s")
        receipt = await session.append(message("a"))
        async with aclosing(session.live()) as items:
            assert await versions(items, 2) == [1, 2]
            await query(
                fresh,
                "INSERT INTO agentjournal_internal.parked VALUES "
                f"('events', 1, '{session.stream}', {receipt.partition}, 3, 'x')",
            )
            with pytest.raises(StreamParked, match="projection events stopped at version 3"):
                await next_of(items, 1)
        with pytest.raises(StreamParked):
            await next_of(log.session("s").live(), 1)


async def test_closing_the_log_ends_it(journal: Settings) -> None:
    async with connected(journal) as log:
        session = log.session("s")
        await session.append(message("a"))
        following, watching = session.events(follow=True), session.live()
        assert (await anext(following)).version == 1
        assert await versions(watching, 2) == [1, 2]
        await anext(following)
        waiting = [asyncio.ensure_future(anext(each)) for each in (following, watching)]
        await eventually(lambda: inside(log).live.followed)
    for each in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(each, Unavailable)
