"""Rates in Redis: a hash with a field for each meter, gone soon after the last one fell silent."""

from __future__ import annotations

from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from agentjournal.errors import Unavailable
from agentjournal.rates import Rates, decode_rates, encode_rates, of_members
from agentjournal.redis_streaming import quick_pool
from agentjournal.settings import Settings

KEPT_MS = 10_000  # a meter that published nothing for so long shows as absent, not with old figures

# By the clock of Redis, so that the meters and those who read agree. ARGV: member, snapshot, how
# long it is kept. What other members left behind is removed.
_PUBLISH = """
local now = redis.call('TIME')
local ms = now[1] * 1000 + math.floor(now[2] / 1000)
local held = redis.call('HGETALL', KEYS[1])
for i = 1, #held, 2 do
    local at = tonumber(string.match(held[i + 1], '^%d+'))
    if not at or at < ms - ARGV[3] then redis.call('HDEL', KEYS[1], held[i]) end
end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', ms) .. ' ' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
"""


def rates_key(prefix: str) -> str:
    """Return the key of the rates of a log."""
    return f"{prefix}rates"


class RedisRates:
    """Publishes and reads rates. Every call but `close` raises Unavailable when Redis is away."""

    def __init__(self, settings: Settings) -> None:
        self._key = rates_key(settings.topic_prefix)
        self._redis = Redis.from_pool(quick_pool(settings))

    async def publish(self, member: str, rates: Rates) -> None:
        """Show what a member counted, in place of what it showed before."""
        try:
            await self._redis.eval(_PUBLISH, 1, self._key, member, encode_rates(rates), KEPT_MS)
        except (RedisError, OSError, TimeoutError) as error:
            raise Unavailable("Redis", error) from error

    async def withdraw(self, member: str) -> None:
        """Show nothing of a member any more."""
        try:
            await self._redis.hdel(self._key, member)
        except (RedisError, OSError, TimeoutError) as error:
            raise Unavailable("Redis", error) from error

    async def read(self) -> Rates | None:
        """Return what all meters show together; None: none is at work.

        Raises Unavailable, also where it cannot be read: then a later release wrote it.
        """
        try:
            async with self._redis.pipeline(transaction=False) as pipeline:
                pipeline.time()
                pipeline.hgetall(self._key)
                (seconds, micros), held = await pipeline.execute()
            now_ms: int = seconds * 1_000 + micros // 1_000
            return of_members([found for each in held.values() if (found := _fresh(each, now_ms))])
        except (RedisError, OSError, TimeoutError, ValueError) as error:
            raise Unavailable("Redis", error) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()


async def rates(settings: Settings) -> Rates | None:
    """Return the rates of a log; None: no meter is at work. Raises Unavailable."""
    reader = RedisRates(settings)
    try:
        return await reader.read()
    finally:
        await reader.close()


def _fresh(held: Any, now_ms: int) -> Rates | None:
    written_ms, _, raw = bytes(held).partition(b" ")
    return decode_rates(raw) if now_ms - int(written_ms) <= KEPT_MS else None
