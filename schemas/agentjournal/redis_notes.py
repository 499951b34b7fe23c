"""Notes in Redis, as clients see them: one hash a session, and how far the cache is.

A hash counts only under the generation of its partition's progress: where Redis lost the progress,
what else it kept may have missed events.
"""

from __future__ import annotations

import time

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.exceptions import RedisError

from agentjournal.ids import Partition, StreamId
from agentjournal.settings import Settings
from agentjournal.working_memory import Cached, Note, StoredNotes

IDLE_MS = 3_600_000  # a hash that nobody reads or changes for so long is dropped
_TIMEOUT_S = 0.5
_QUIET_S = 0.5  # after a failure nothing is tried for so long: the read models have it all
_NOTE = b"note:"

# A session is filled only when the cache has read no further than the read models had: what came
# after is then still to be folded. ARGV: position, through, idle time, then field and value.
_FILL = """
local progress = redis.call('HMGET', KEYS[1], 'next', 'generation')
if not progress[1] or tonumber(progress[1]) > tonumber(ARGV[1]) then return 0 end
local held = redis.call('HMGET', KEYS[2], 'generation', 'version')
if held[1] == progress[2] and tonumber(held[2]) >= tonumber(ARGV[2]) then return 0 end
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[2], 'generation', progress[2], 'version', ARGV[2])
for i = 4, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1
"""


def progress_key(prefix: str, partition: Partition) -> str:
    """Return the key of how far the cache is in a partition."""
    return f"{prefix}notes.{{{partition}}}"


def notes_key(prefix: str, partition: Partition, stream: StreamId) -> str:
    """Return the key of a session's notes, in the same slot of a cluster as the progress."""
    return f"{progress_key(prefix, partition)}.{stream}"


def lookups_key(prefix: str, partition: Partition) -> str:
    """Return the key of how often clients found notes of a partition here, and how often not."""
    return f"{progress_key(prefix, partition)}.lookups"


def field_of(key: str) -> bytes:
    """Return the field of a note in the hash of its session."""
    return _NOTE + key.encode()


def value_of(note: Note) -> bytes:
    """Return a note as it stands in the hash."""
    return b"%b %b" % (note.recorded_at.encode(), note.raw_data)


class RedisNotes:
    """Looks notes up, and fills in what was read elsewhere. Without Redis there are none."""

    def __init__(self, settings: Settings) -> None:
        self._prefix = settings.topic_prefix
        self._redis = Redis.from_url(
            settings.redis, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S, protocol=3
        )
        self._quiet_until = 0.0
        self._lookups: dict[Partition, list[int]] = {}  # hits and misses that Redis is not told of

    async def look(self, stream: StreamId, partition: Partition) -> Cached | None:
        """Return what there is of a stream in one round trip; None: nobody keeps it up to date."""
        if self._is_quiet():
            return None
        key = notes_key(self._prefix, partition, stream)
        try:
            async with self._redis.pipeline(transaction=True) as pipeline:
                pipeline.hgetall(progress_key(self._prefix, partition))
                pipeline.hgetall(key)
                pipeline.pexpire(key, IDLE_MS)
                self._tell(pipeline, partition)
                progress, held, *_ = await pipeline.execute()
        except (RedisError, OSError, TimeoutError):
            self._rest()
            return None
        is_held = bool(progress) and held.get(b"generation") == progress[b"generation"]
        self._lookups.setdefault(partition, [0, 0])[not is_held] += 1
        if not progress:
            return None
        notes = _notes(held) if is_held else None
        return Cached(int(progress[b"next"]), int(progress[b"input"]), notes)

    async def fill(self, stream: StreamId, partition: Partition, stored: StoredNotes) -> None:
        """Let the cache hold what was stored, if it can go on from there."""
        if self._is_quiet() or stored.next_position is None:
            return
        fields: list[bytes | int] = [stored.next_position, stored.through, IDLE_MS]
        for key, note in stored.notes.items():
            fields += field_of(key), value_of(note)
        keys = (progress_key(self._prefix, partition), notes_key(self._prefix, partition, stream))
        try:
            await self._redis.eval(_FILL, len(keys), *keys, *fields)
        except (RedisError, OSError, TimeoutError):
            self._rest()

    async def close(self) -> None:
        """Close the connection."""
        try:
            async with self._redis.pipeline(transaction=False) as pipeline:
                for partition in list(self._lookups):
                    self._tell(pipeline, partition)
                if not self._is_quiet():
                    await pipeline.execute()
        except (RedisError, OSError, TimeoutError):
            pass  # they are counts only
        await self._redis.aclose()

    def _tell(self, pipeline: Pipeline, partition: Partition) -> None:
        """Let Redis count what was looked up since it was told, beside what is asked anyway."""
        key = lookups_key(self._prefix, partition)
        for field, count in zip(("hit", "miss"), self._lookups.pop(partition, ()), strict=False):
            if count:
                pipeline.hincrby(key, field, count)

    def _is_quiet(self) -> bool:
        return time.monotonic() < self._quiet_until

    def _rest(self) -> None:
        self._quiet_until = time.monotonic() + _QUIET_S


def _notes(held: dict[bytes, bytes]) -> dict[str, Note]:
    notes: dict[str, Note] = {}
    for field, value in held.items():
        if field.startswith(_NOTE):
            recorded_at, _, raw_data = value.partition(b" ")
            notes[field[len(_NOTE) :].decode()] = Note(recorded_at.decode(), raw_data)
    return notes
