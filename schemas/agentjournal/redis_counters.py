"""Counters in Redis: a hash for each, with a field for each sixtieth of the window."""

from __future__ import annotations

from urllib.parse import quote

from redis.asyncio import Redis
from redis.exceptions import RedisError

from agentjournal.errors import Unavailable
from agentjournal.redis_streaming import quick_pool
from agentjournal.settings import Settings

PARTS = 60

# By the clock of Redis, so that all who count agree. ARGV: milliseconds of a part, by, parts.
_ADD = """
local now = redis.call('TIME')
local part = math.floor((now[1] * 1000 + math.floor(now[2] / 1000)) / ARGV[1])
if ARGV[2] ~= '0' then
    redis.call('HINCRBY', KEYS[1], part, ARGV[2])
    redis.call('PEXPIRE', KEYS[1], ARGV[1] * (ARGV[3] + 1))
end
local sum, held = 0, redis.call('HGETALL', KEYS[1])
for i = 1, #held, 2 do
    if tonumber(held[i]) < part - ARGV[3] then
        redis.call('HDEL', KEYS[1], held[i])
    else
        sum = sum + tonumber(held[i + 1])
    end
end
return sum
"""


class RedisCounters:
    """Counts in Redis, which may lose any of it."""

    def __init__(self, settings: Settings) -> None:
        self._prefix = settings.topic_prefix
        self._redis = Redis.from_pool(quick_pool(settings))

    async def add(self, tenant: str, name: str, window_s: float, by: int) -> int:
        """As the port."""
        part_ms = max(1, round(window_s * 1_000 / PARTS))
        names = "/".join(quote(each, safe="") for each in (tenant, name))
        key = f"{self._prefix}counter.{names}/{part_ms}"
        try:
            return int(await self._redis.eval(_ADD, 1, key, part_ms, by, PARTS))
        except (RedisError, OSError, TimeoutError) as error:
            raise Unavailable("Redis", error) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()
