"""The cache of notes under every order of folding, filling, losing and overtaking."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from redis.asyncio import Redis

from agentjournal.ids import Partition, Position, StreamId, Version
from agentjournal.redis_notes import RedisNotes, notes_key, progress_key
from agentjournal.settings import Settings
from agentjournal.working_memory import Note, StoredNotes
from consumers.cache import Advance, Change
from consumers.redis_note_cache import RedisNoteCache
from local.stack import Stack

pytestmark = pytest.mark.stack

PARTITION = Partition(0)
STREAMS = (StreamId("session/t/a"), StreamId("session/t/b"))
MEMBERS = 2

streams = st.sampled_from(STREAMS)
whats = st.sampled_from(["x", "y", "-x", "-y", "end"])  # set, deleted, the session ended
members = st.integers(0, MEMBERS - 1)
steps = st.one_of(
    st.tuples(st.just("record"), streams, whats),
    st.tuples(st.just("record"), streams, whats),
    st.tuples(st.just("fold"), members, st.integers(1, 4)),
    st.tuples(st.just("fold"), members, st.integers(1, 4)),
    st.tuples(st.just("take"), members, st.none()),
    st.tuples(st.just("fill"), streams, st.integers(0, 3)),
    st.tuples(st.just("fill"), streams, st.just(0)),
    st.tuples(st.just("lose"), st.sampled_from([*STREAMS, "progress", "everything"]), st.none()),
)


@dataclass
class Scene:
    """A log of one partition, and members that fold it, each at the place that it takes for its."""

    prefix: str
    writer: RedisNoteCache
    reader: RedisNotes
    redis: Redis
    log: list[Change] = field(default_factory=list[Change])
    places: list[Position | None] = field(default_factory=lambda: [None] * MEMBERS)

    async def step(self, name: str, *of: Any) -> None:
        await getattr(self, name)(*of)
        for stream in STREAMS:
            await self.check(stream)

    async def record(self, stream: StreamId, what: str) -> None:
        version = Version(self.through(stream, len(self.log)) + 1)
        note = Note(f"at-{len(self.log)}", b'{"value": %d}' % version) if len(what) == 1 else None
        key = None if what == "end" else what.removeprefix("-")
        self.log.append(Change(stream, version, key, note))

    async def fold(self, member: int, count: int) -> None:
        """Fold what comes next, if the member has a place; it starts over when it is refused."""
        place = self.places[member]
        if place is None or place == len(self.log):
            return
        batch = self.log[place : place + count]
        after = Position(place + len(batch))
        advance = Advance(place, after, after, "hash", batch)
        went_on = await self.writer.advance(PARTITION, advance)
        self.places[member] = after if went_on is not None else None

    async def take(self, member: int, _: None) -> None:
        held = await self.writer.place(PARTITION)
        place = Position(max(0, len(self.log) - 1)) if held is None else held.next_position
        if held is None:
            assert await self.writer.begin(PARTITION, place, instead_of=None)
            assert not await self.writer.begin(PARTITION, place, instead_of=None), "once only"
        self.places[member] = place

    async def fill(self, stream: StreamId, behind: int) -> None:
        """Fill what the read models had, of which nobody says that they are the newest."""
        at = max(0, len(self.log) - behind)
        stored = StoredNotes(
            self.notes(stream, at), True, Position(at), Version(self.through(stream, at))
        )
        await self.reader.fill(stream, PARTITION, stored)

    async def lose(self, what: str, _: None) -> None:
        keys = [notes_key(self.prefix, PARTITION, stream) for stream in STREAMS]
        named = {"everything": [*keys, self.progress], "progress": [self.progress]}
        await self.redis.delete(*named.get(what, [f"{self.progress}.{what}"]))

    @property
    def progress(self) -> str:
        return progress_key(self.prefix, PARTITION)

    def through(self, stream: StreamId, at: int) -> int:
        return sum(change.stream == stream for change in self.log[:at])

    def notes(self, stream: StreamId, at: int) -> Mapping[str, Note]:
        """Return what the log says up to a position."""
        notes: dict[str, Note] = {}
        for change in self.log[:at]:
            if change.stream != stream:
                continue
            if change.key is None:
                notes.clear()
            elif change.note is None:
                notes.pop(change.key, None)
            else:
                notes[change.key] = change.note
        return notes

    async def check(self, stream: StreamId) -> None:
        """What is cached is what the log says, at least up to where the cache says that it is."""
        found = await self.reader.look(stream, PARTITION)
        if found is None or found.notes is None:
            return
        places = range(found.next_position, len(self.log) + 1)
        assert found.notes in [self.notes(stream, at) for at in places]


async def play(settings: Settings, given: Sequence[tuple[Any, ...]]) -> None:
    own = replace(settings, topic_prefix=f"{uuid4().hex}.")
    writer, reader = RedisNoteCache(own), RedisNotes(own)
    async with Redis.from_url(own.redis) as redis:
        scene = Scene(own.topic_prefix, writer, reader, redis)
        try:
            for each in given:
                await scene.step(*each)
        finally:
            await scene.lose("everything", None)
            await reader.close()
            await writer.close()


A = STREAMS[0]
TWO = [("record", A, "x"), ("record", A, "y"), ("take", 0, None)]
THREE = [*TWO, ("fold", 0, 4), ("record", A, "-x"), ("fold", 0, 1), ("lose", "progress", None)]
OLD = [("record", A, "x"), ("take", 0, None), ("fill", A, 0), ("record", A, "-x")]


@example(given=[*TWO, ("fold", 0, 4), ("fill", A, 1)])  # the read models are behind
@example(  # a member is ahead of the place that Redis begins anew at
    given=[*THREE, ("take", 1, None), ("fill", A, 1), ("record", A, "y"), ("fold", 0, 1)]
)
@example(  # what was cached before the place was lost
    given=[*OLD, ("record", A, "y"), ("lose", "progress", None), ("take", 1, None)]
)
@given(given=st.lists(steps, max_size=30))
def test_what_is_cached_is_always_what_the_log_says(
    stack: Stack, given: Sequence[tuple[Any, ...]]
) -> None:
    asyncio.run(play(stack.settings, given))


def test_what_is_filled_is_read_and_folded_further(stack: Stack) -> None:
    """So that the rule above is not kept by a cache that never holds anything."""
    a = STREAMS[0]

    async def scenario() -> None:
        own = replace(stack.settings, topic_prefix=f"{uuid4().hex}.")
        writer, reader = RedisNoteCache(own), RedisNotes(own)
        async with Redis.from_url(own.redis) as redis:
            scene = Scene(own.topic_prefix, writer, reader, redis)
            await scene.step("record", a, "x")
            await scene.step("take", 0, None)
            await scene.step("fill", a, 0)
            await scene.step("fold", 0, 1)
            await scene.step("record", a, "y")
            await scene.step("record", a, "-x")
            await scene.step("fold", 0, 2)
            found = await reader.look(a, PARTITION)
            assert found is not None
            assert (found.next_position, found.input_position) == (3, 3)
            assert found.notes == {"y": Note("at-1", b'{"value": 2}')}
            await scene.step("record", a, "end")
            await scene.step("fold", 0, 1)
            found = await reader.look(a, PARTITION)
            assert found is not None
            assert found.notes == {}
            await scene.lose("everything", None)
        await reader.close()
        await writer.close()

    asyncio.run(scenario())


async def test_clients_count_how_often_notes_were_found_here(stack: Stack) -> None:
    own = replace(stack.settings, topic_prefix=f"{uuid4().hex}.")
    writer, readers = RedisNoteCache(own), [RedisNotes(own), RedisNotes(own)]
    assert await writer.lookups(PARTITION) == {}
    assert await readers[0].look(STREAMS[0], PARTITION) is None, "nobody keeps it yet"
    assert await writer.begin(PARTITION, Position(0), instead_of=None)
    await readers[0].look(STREAMS[0], PARTITION)
    await readers[0].fill(STREAMS[0], PARTITION, StoredNotes({}, True, Position(0), Version(0)))
    for _ in range(3):
        await readers[1].look(STREAMS[0], PARTITION)
    for reader in readers:
        await reader.close()
    assert await writer.lookups(PARTITION) == {"hit": 3, "miss": 2}
    await writer.close()
