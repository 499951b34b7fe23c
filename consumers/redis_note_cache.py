"""The cache of notes in Redis, as its role writes it: hashes and progress change together."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from agentjournal.ids import Partition, Position, StreamId
from agentjournal.redis_notes import (
    IDLE_MS,
    field_of,
    lookups_key,
    notes_key,
    progress_key,
    value_of,
)
from agentjournal.settings import Settings
from consumers.cache import Advance, CachePlace
from streams.ports import OutageError

# Begins a partition anew, unless another member did meanwhile. ARGV: the generation that was seen,
# the new one, next position. Hashes of another generation do not count any more.
_BEGIN = """
if (redis.call('HGET', KEYS[1], 'generation') or '') ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'generation', ARGV[2], 'next', ARGV[3], 'input', '-1', 'hash', '')
return 1
"""
# Folds changes into the hashes that exist, and moves the progress, only forwards. A member that is
# ahead of the progress would leave a hole: it is refused. Hashes hold a version, so what one that
# is behind does again changes nothing. Returns 1 and the number of changes to hashes that exist, 0
# when it is refused. ARGV: from, next, input position, hash of the record before
# next, idle time; then for each change the index of its key, version, field, value; without a field
# all notes are gone, without a value one.
_ADVANCE = """
local progress = redis.call('HMGET', KEYS[1], 'next', 'input', 'generation')
if not progress[1] or tonumber(progress[1]) < tonumber(ARGV[1]) then return 0 end
if tonumber(progress[1]) >= tonumber(ARGV[2]) then return 1 end
local kept = 0
for i = 6, #ARGV, 4 do
    local key = KEYS[tonumber(ARGV[i])]
    local held = redis.call('HMGET', key, 'generation', 'version')
    if held[1] == progress[3] and tonumber(held[2]) < tonumber(ARGV[i + 1]) then
        if ARGV[i + 2] == '' then
            redis.call('DEL', key)
            redis.call('HSET', key, 'generation', progress[3])
        elseif ARGV[i + 3] == '' then
            redis.call('HDEL', key, ARGV[i + 2])
        else
            redis.call('HSET', key, ARGV[i + 2], ARGV[i + 3])
        end
        redis.call('HSET', key, 'version', ARGV[i + 1])
        redis.call('PEXPIRE', key, ARGV[5])
        kept = kept + 1
    end
end
redis.call('HSET', KEYS[1], 'next', ARGV[2], 'hash', ARGV[4])
if tonumber(progress[2]) < tonumber(ARGV[3]) then redis.call('HSET', KEYS[1], 'input', ARGV[3]) end
return 1 + kept
"""


class RedisNoteCache:
    """Folds notes into Redis. Every call raises OutageError when Redis is away."""

    def __init__(self, settings: Settings) -> None:
        self._prefix = settings.topic_prefix
        self._redis = Redis.from_url(
            settings.redis, socket_timeout=5, socket_connect_timeout=1, protocol=3
        )

    async def place(self, partition: Partition) -> CachePlace | None:
        """Return how far the cache is in a partition; None when Redis does not know."""
        try:
            held: Any = await self._redis.hgetall(progress_key(self._prefix, partition))
        except (RedisError, OSError, TimeoutError) as error:
            raise OutageError(f"Redis: {error!r}") from error
        if not held:
            return None
        next_position = Position(int(held[b"next"]))
        return CachePlace(next_position, held[b"hash"].decode(), held[b"generation"].decode())

    async def begin(
        self, partition: Partition, position: Position, *, instead_of: CachePlace | None
    ) -> bool:
        """Begin a partition anew at a position; False when another member did meanwhile."""
        seen = "" if instead_of is None else instead_of.generation
        key = progress_key(self._prefix, partition)
        return bool(await self._eval(_BEGIN, [key], [seen, secrets.token_hex(8), position]))

    async def advance(self, partition: Partition, advance: Advance) -> int | None:
        """Fold changes and move on; return how many were of sessions that are kept.

        None: the progress in Redis is not where they begin.
        """
        keys = [progress_key(self._prefix, partition)]
        index: dict[StreamId, int] = {}
        values: list[bytes | int | str] = [
            advance.from_position,
            advance.next_position,
            advance.input_position,
            advance.hash,
            IDLE_MS,
        ]
        for change in advance.changes:
            if change.stream not in index:
                keys.append(notes_key(self._prefix, partition, change.stream))
                index[change.stream] = len(keys)
            field = b"" if change.key is None else field_of(change.key)
            value = b"" if change.note is None else value_of(change.note)
            values += index[change.stream], change.version, field, value
        done = await self._eval(_ADVANCE, keys, values)
        return done - 1 if done else None

    async def lookups(self, partition: Partition) -> Mapping[str, int]:
        """Return how often clients looked notes up: `hit` and `miss`, as far as Redis knows."""
        try:
            held: Any = await self._redis.hgetall(lookups_key(self._prefix, partition))
        except (RedisError, OSError, TimeoutError) as error:
            raise OutageError(f"Redis: {error!r}") from error
        return {field.decode(): int(count) for field, count in held.items()}

    async def close(self) -> None:
        """Close the connection."""
        await self._redis.aclose()

    async def _eval(
        self, script: str, keys: Sequence[str], values: Sequence[bytes | int | str]
    ) -> int:
        try:
            return int(await self._redis.eval(script, len(keys), *keys, *values))
        except (RedisError, OSError, TimeoutError) as error:
            raise OutageError(f"Redis: {error!r}") from error
