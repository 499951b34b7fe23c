"""Counters on a real Redis: over the last so many seconds, per tenant, and not for ever."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from redis.asyncio import Redis

from agentjournal import AppendRejected, Unavailable
from agentjournal.settings import Settings
from local.stack import Stack
from tests.servers import connected

pytestmark = pytest.mark.stack


@pytest.fixture
def counted(stack: Stack) -> Settings:
    """Counters need no topics and no tables."""
    return stack.settings


async def test_all_who_count_under_a_name_count_together(counted: Settings) -> None:
    async with connected(counted) as log, connected(counted, tenant=log.settings.tenant) as other:
        assert await log.counter("calls").incr() == 1
        assert await other.counter("calls").incr(41) == 42
        assert await log.counter("calls").value() == 42
        both = (log.counter("calls"), other.counter("calls"))
        await asyncio.gather(*(each.incr() for each in both * 20))
        assert await log.counter("calls").value() == 82


async def test_names_windows_and_tenants_keep_apart(counted: Settings) -> None:
    async with connected(counted) as log, connected(counted) as stranger:
        await log.counter("a/b").incr()
        assert await log.counter("a").value() == 0
        assert await log.counter("a/b", window_s=10).value() == 0
        assert await stranger.counter("a/b").value() == 0
        tenants = (log.settings.tenant, f"{log.settings.tenant}/a")
        async with connected(counted, tenant=tenants[1]) as nested:
            assert await nested.counter("b").value() == 0


async def test_what_was_counted_counts_for_the_window_and_not_much_longer(
    counted: Settings,
) -> None:
    async with connected(counted) as log:
        counter = log.counter("calls", window_s=0.6)
        loop = asyncio.get_running_loop()
        before = loop.time()
        await counter.incr(7)
        while await counter.value() == 7:  # noqa: ASYNC110 - Redis tells nobody
            await asyncio.sleep(0)
        assert loop.time() - before >= 0.6
        assert await counter.value() == 0
        async with Redis.from_url(counted.redis) as redis:
            async with asyncio.timeout(5):
                while await redis.keys(f"*{log.settings.tenant}*"):  # noqa: ASYNC110 - nor here
                    await asyncio.sleep(0)


async def test_early_and_late_counts_leave_one_after_the_other(counted: Settings) -> None:
    async with connected(counted) as log:
        counter = log.counter("calls", window_s=1.2)
        await counter.incr(1)
        await asyncio.sleep(0.4)
        seen = {await counter.incr(2)}
        async with asyncio.timeout(10):
            while (now := await counter.value()) != 0:
                seen.add(now)
                await asyncio.sleep(0)
        assert {2, 3} >= seen
        assert 2 in seen


async def test_large_counts_are_exact(counted: Settings) -> None:
    async with connected(counted) as log:
        assert await log.counter("bytes").incr(2**53 - 1) == 2**53 - 1


@pytest.mark.parametrize("by", [0, -1, 2**53, 1.5, True, "1"])
async def test_what_is_no_count_is_refused(counted: Settings, by: Any) -> None:
    async with connected(counted) as log:
        with pytest.raises(ValueError, match="is not an integer between 1"):
            await log.counter("calls").incr(by)
        assert await log.counter("calls").value() == 0


@pytest.mark.parametrize("window_s", [0, -1, 0.05, float("nan"), float("inf"), 1e9])
async def test_what_is_no_window_is_refused(counted: Settings, window_s: float) -> None:
    async with connected(counted) as log:
        with pytest.raises(ValueError, match=r"is not between 0\.1 s and a year"):
            log.counter("calls", window_s=window_s)
        with pytest.raises(AppendRejected):
            log.counter("a\nb")


async def test_redis_may_lose_it_or_be_away(counted: Settings) -> None:
    async with connected(counted) as log:
        assert await log.counter("calls").incr(5) == 5
        async with Redis.from_url(counted.redis) as redis:
            await redis.flushall()
        assert await log.counter("calls").value() == 0
        assert await log.counter("calls").incr() == 1
    async with connected(replace(counted, redis="redis://127.0.0.1:1/0")) as log:
        with pytest.raises(Unavailable, match="Redis"):
            await log.counter("calls").incr()
