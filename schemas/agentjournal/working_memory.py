"""Working memory: the notes of a session as they are read, from a cache or from the read models."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

from agentjournal.codec import decode
from agentjournal.errors import NotCaughtUp
from agentjournal.ids import Partition, Position, StreamId, Version
from agentjournal.receipts import Receipt
from agentjournal.stored import later

_FIRST_PAUSE_S, _MOST_PAUSE_S = 0.002, 0.05
_CACHE_WAIT_S = 0.05  # for a cache that is a little behind; then the read models are asked


class Note(NamedTuple):
    """A note as it was written: the exact bytes of its event, and the broker's time."""

    recorded_at: str
    raw_data: bytes


class Needed(NamedTuple):
    """What a read must show: an append by its receipt, else the log up to a position."""

    partition: Partition
    next_position: Position
    receipt: Receipt | None = None

    def is_covered(self, next_position: int, input_position: int) -> bool:
        """Whether who has come to these places has seen it."""
        if self.receipt is not None:
            return input_position >= self.receipt.position
        return next_position >= self.next_position


class Cached(NamedTuple):
    """What the cache knows of a stream, and how far it is in the stream's partition."""

    next_position: int
    input_position: int
    notes: Mapping[str, Note] | None  # None: it does not hold this stream


class StoredNotes(NamedTuple):
    """The notes in the read models at one moment, and the place that they were read at."""

    notes: Mapping[str, Note]
    is_whole: bool  # False: a value is not there yet
    next_position: Position | None  # None: the read models are not all at one place
    through: Version  # the last version of the stream that is in it


class NoteCache(Protocol):
    """Redis, which may be away or have lost everything."""

    async def look(self, stream: StreamId, partition: Partition) -> Cached | None: ...
    async def fill(self, stream: StreamId, partition: Partition, stored: StoredNotes) -> None: ...


class NoteStore(Protocol):
    """The read models."""

    async def wait_until(self, needed: Needed, timeout_s: float) -> None: ...
    async def read(self, stream: StreamId, partition: Partition) -> StoredNotes: ...


async def read_notes(
    cache: NoteCache, store: NoteStore, stream: StreamId, needed: Needed, timeout_s: float
) -> Mapping[str, Note]:
    """Return the notes that show at least what is needed, those that have expired among them.

    Raises NotCaughtUp after `timeout_s`, StreamParked.
    """
    deadline = asyncio.get_running_loop().time() + timeout_s
    cached = await _look(cache, stream, needed)
    if cached is not None:
        return cached
    await store.wait_until(needed, timeout_s)
    pause = _FIRST_PAUSE_S
    while True:
        stored = await store.read(stream, needed.partition)
        if stored.is_whole:
            break
        if asyncio.get_running_loop().time() + pause > deadline:
            raise NotCaughtUp(needed.partition, needed.next_position, timeout_s)
        await asyncio.sleep(pause)
        pause = min(pause * 2, _MOST_PAUSE_S)
    if stored.next_position is not None:
        await cache.fill(stream, needed.partition, stored)
    return stored.notes


async def _look(cache: NoteCache, stream: StreamId, needed: Needed) -> Mapping[str, Note] | None:
    loop = asyncio.get_running_loop()
    deadline, pause = loop.time() + _CACHE_WAIT_S, _FIRST_PAUSE_S
    while True:
        cached = await cache.look(stream, needed.partition)
        if cached is None or cached.notes is None:
            return None
        if needed.is_covered(cached.next_position, cached.input_position):
            return cached.notes
        if loop.time() + pause > deadline:
            return None
        await asyncio.sleep(pause)
        pause *= 2


def live_values(notes: Mapping[str, Note], now: datetime) -> dict[str, Any]:
    """Return the values of those that have not expired, as they were set, in the order of keys."""
    live: dict[str, Any] = {}
    for key, note in sorted(notes.items()):
        data = decode(note.raw_data)
        if not has_expired(note.recorded_at, data.get("ttl_s"), now):
            live[key] = data["value"]
    return live


def has_expired(recorded_at: str, ttl_s: float | None, now: datetime) -> bool:
    """Whether the time of a note has passed."""
    until = None if ttl_s is None else later(recorded_at, ttl_s)
    return until is not None and until <= now


def now() -> datetime:
    """Return the time by the one clock that expiry is read by: that of the reader."""
    return datetime.now(UTC)
