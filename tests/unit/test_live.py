"""Following: one reader for all, through outages, and an end that is said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import pytest

from agentjournal import Delta, IntegrityError, Recorded, StreamParked, Unavailable
from agentjournal.drafts import Draft, KeptDraft, Piece, append_id_of
from agentjournal.ids import StreamId, Version, stream_id
from agentjournal.live import Live
from agentjournal.requests import NewEvent
from agentjournal.tails import LiveItem
from tests.servers import eventually
from tests.support import Stream, event, request, said

NOTE = "note.deleted"


@dataclass
class Stored:
    """Events of streams, and how often they were asked for."""

    streams: dict[StreamId, Stream] = field(default_factory=dict[StreamId, Stream])
    broken: Exception | None = None
    stopped: dict[StreamId, StreamParked] = field(default_factory=dict[StreamId, StreamParked])
    looks: int = 0
    reads: int = 0
    asked_appended: int = 0

    def record(self, stream: StreamId, *events: NewEvent, append_id: str | None = None) -> None:
        more = {} if append_id is None else {"append_id": append_id}
        log = self.streams.setdefault(stream, Stream(stream))
        log.accept(request(*events, **more))

    def _of(self, stream: StreamId) -> list[Recorded]:
        if self.broken is not None:
            raise self.broken
        return self.streams[stream].recorded if stream in self.streams else []

    async def heads(self, streams: Collection[StreamId]) -> Mapping[StreamId, Version]:
        await asyncio.sleep(0)
        return {s: self._of(s)[-1].version for s in streams if self._of(s)}

    async def behind(self, versions: Mapping[StreamId, Version], most: int) -> Sequence[Recorded]:
        self.looks += 1  # also those that fail
        await asyncio.sleep(0)
        return [e for s, v in versions.items() for e in self._of(s) if e.version > v][:most]

    async def read(self, stream: StreamId, after: int, most: int) -> Sequence[Recorded]:
        self.reads += 1
        await asyncio.sleep(0)
        return [e for e in self._of(stream) if e.version > after][:most]

    async def parked(self, streams: Collection[StreamId]) -> Mapping[StreamId, StreamParked]:
        return {stream: self.stopped[stream] for stream in streams if stream in self.stopped}

    async def appended(self, stream: StreamId, append_ids: Collection[str]) -> Collection[str]:
        self.asked_appended += 1
        return {e.append_id for e in self._of(stream)} & set(append_ids)


@dataclass
class Kept:
    """Drafts, and whoever follows them."""

    drafts: dict[StreamId, list[KeptDraft]] = field(default_factory=dict[StreamId, list[KeptDraft]])
    followed: list[StreamId] = field(default_factory=list[StreamId])
    feeds: int = 0
    is_away: bool = False
    deliver: Callable[[StreamId, Piece], None] | None = None
    begun: Callable[[StreamId], None] | None = None

    async def put(self, stream: StreamId, draft: Draft, text: str, published: int) -> None:
        raise NotImplementedError

    async def kept(self, streams: Sequence[StreamId]) -> Mapping[StreamId, Sequence[KeptDraft]]:
        await asyncio.sleep(0)
        if self.is_away:
            raise Unavailable("Redis", "it is away")
        return {s: self.drafts[s] for s in streams if s in self.drafts}

    async def drop(self, stream: StreamId, draft_id: str) -> None:
        raise NotImplementedError

    def feed(
        self, deliver: Callable[[StreamId, Piece], None], begun: Callable[[StreamId], None]
    ) -> Kept:
        self.feeds += 1
        self.deliver, self.begun = deliver, begun
        return self

    def follow(self, stream: StreamId) -> None:
        self.followed.append(stream)
        assert self.begun is not None
        asyncio.get_running_loop().call_soon(self.begun, stream)

    def unfollow(self, stream: StreamId) -> None:
        self.followed.remove(stream)

    async def close(self) -> None:
        self.feeds -= 1

    def tell(self, stream: StreamId, message_id: str, offset: int, text: str) -> None:
        assert self.deliver is not None
        self.deliver(stream, Piece(f"d-{message_id}", message_id, "assistant", offset, text))

    def keep(self, stream: StreamId, message_id: str, text: str) -> None:
        draft = Draft(f"d-{message_id}", message_id, "assistant")
        self.drafts[stream] = [KeptDraft(draft, text, 0.0)]


class Scene:
    """Something to follow."""

    def __init__(self) -> None:
        self.stored, self.kept = Stored(), Kept()
        self.live = Live(self.stored, self.kept)
        self.stream = stream_id("session", "t", "s")

    def follow(self, after: int = 0, *, deltas: bool = True) -> AsyncGenerator[LiveItem]:
        return self.live.follow(self.stream, after, deltas=deltas)


def follow_another(scene: Scene, name: str) -> AsyncGenerator[LiveItem]:
    return scene.live.follow(stream_id("session", "t", name), 0, deltas=True)


async def taken(items: AsyncGenerator[LiveItem], count: int) -> list[Any]:
    """Return the next items: versions of events, and deltas."""
    found: list[Any] = []
    async with asyncio.timeout(5):
        while len(found) < count:
            item = await anext(items)
            found.append(item.version if isinstance(item, Recorded) else item)
    return found


async def test_closing_stops_a_reader_that_is_woken_in_the_same_moment() -> None:
    scene = Scene()
    scene.stored.record(scene.stream, event(NOTE, key="a"))
    async with aclosing(scene.follow()) as items:
        assert await taken(items, 1) == [1]
        live: Any = scene.live
        looks = scene.stored.looks
        await eventually(lambda: scene.stored.looks > looks + 1)
        for _ in range(5):
            await asyncio.sleep(0)  # it has looked, and waits
        live._event_reader.wake()
        closing = asyncio.create_task(scene.live.close())
        done, _ = await asyncio.wait({closing}, timeout=5)
        assert done == {closing}


async def test_what_was_comes_first_and_then_what_happens() -> None:
    scene = Scene()
    scene.stored.record(scene.stream, event(NOTE, key="a"), event(NOTE, key="b"))
    async with aclosing(scene.follow()) as items, aclosing(scene.follow(1)) as late:
        assert await taken(items, 2) == [1, 2]
        scene.stored.record(scene.stream, event(NOTE, key="c"))
        assert await taken(items, 1) == [3]
        assert await taken(late, 2) == [2, 3]


async def test_a_thousand_followers_share_the_looks_and_one_feed() -> None:
    scene = Scene()
    scene.stored.record(scene.stream, event(NOTE, key="a"))
    followers = [scene.follow(1) for _ in range(1_000)]
    waiting = [asyncio.create_task(taken(items, 2)) for items in followers]
    await eventually(lambda: scene.stored.looks)
    looks = scene.stored.looks
    scene.stored.record(scene.stream, event(NOTE, key="b"))
    await eventually(lambda: scene.stored.looks > looks + 2)
    scene.kept.tell(scene.stream, "m", 0, "Hel")
    for found in await asyncio.gather(*waiting):
        assert found == [2, Delta("m", "assistant", "Hel", 0)]
    assert scene.stored.reads == 0
    assert scene.stored.looks < 50
    assert (scene.kept.feeds, scene.kept.followed) == (1, [scene.stream])
    for items in followers:
        await items.aclose()
    assert scene.kept.followed == []
    inside: Any = scene.live
    await eventually(inside._event_reader._task.done)  # nobody is left to ask for


async def test_who_joins_in_mid_message_has_all_of_it() -> None:
    scene = Scene()
    async with aclosing(scene.follow()) as first:
        waiting = asyncio.create_task(taken(first, 1))
        await eventually(lambda: scene.kept.followed)
        scene.kept.tell(scene.stream, "m", 0, "Hel")
        assert await waiting == [Delta("m", "assistant", "Hel", 0)]
        async with aclosing(scene.follow()) as second:
            assert await taken(second, 1) == [Delta("m", "assistant", "Hel", 0)]
            scene.kept.tell(scene.stream, "m", 3, "lo")
            for items in (first, second):
                assert await taken(items, 1) == [Delta("m", "assistant", "lo", 3)]


async def test_a_piece_that_was_missed_is_looked_for() -> None:
    scene = Scene()
    async with aclosing(scene.follow()) as items:
        waiting = asyncio.create_task(taken(items, 1))
        await eventually(lambda: scene.kept.followed)
        scene.kept.keep(scene.stream, "m", "Hello")
        scene.kept.tell(scene.stream, "m", 3, "lo")
        assert await waiting == [Delta("m", "assistant", "Hello", 0)]
        scene.kept.is_away = True
        scene.kept.tell(scene.stream, "m", 7, "there")
        scene.kept.is_away = False
        scene.kept.keep(scene.stream, "m", "Hello, there!")
        scene.kept.tell(scene.stream, "m", 12, "!")
        assert await taken(items, 1) == [Delta("m", "assistant", ", there!", 5)]


async def test_a_draft_whose_message_is_recorded_is_not_shown() -> None:
    """Its writer may have died before it could drop it."""
    scene = Scene()
    scene.stored.record(scene.stream, said("Hello", "assistant", "m"), append_id=append_id_of("m"))
    scene.kept.keep(scene.stream, "m", "Hello")
    async with aclosing(scene.follow(1)) as items:
        waiting = asyncio.create_task(taken(items, 1))
        await eventually(lambda: scene.kept.followed)
        await eventually(lambda: scene.stored.asked_appended)
        scene.kept.tell(scene.stream, "n", 0, "next")
        assert await waiting == [Delta("n", "assistant", "next", 0)]


async def test_an_outage_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentjournal.live_readers._OUTAGE_PAUSE_S", 0.01)
    scene = Scene()
    scene.stored.record(scene.stream, event(NOTE, key="a"))
    async with aclosing(scene.follow()) as items:
        assert await taken(items, 1) == [1]
        scene.stored.broken = Unavailable("Postgres", "it is away")
        looks = scene.stored.looks
        await eventually(lambda: scene.stored.looks > looks + 2)
        with pytest.raises(Unavailable):  # who begins is told
            await taken(follow_another(scene, "t"), 1)
        scene.stored.broken = None
        scene.stored.record(scene.stream, event(NOTE, key="b"))
        assert await taken(items, 1) == [2]


async def test_a_stream_that_is_parked_says_so_and_may_be_followed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentjournal.live_readers._SLOW_S", 0.01)
    scene = Scene()
    scene.stored.record(scene.stream, event(NOTE, key="a"))
    async with aclosing(scene.follow()) as items:
        assert await taken(items, 1) == [1]
        scene.stored.stopped[scene.stream] = StreamParked(scene.stream, "events", 2)
        with pytest.raises(StreamParked):
            await taken(items, 1)
    with pytest.raises(StreamParked):
        await taken(scene.follow(), 1)
    scene.stored.stopped.clear()
    async with aclosing(scene.follow()) as items:
        assert await taken(items, 1) == [1]


async def test_whatever_stops_the_reader_is_told_to_everybody() -> None:
    scene = Scene()
    scene.stored.broken = IntegrityError("two truths")
    for _ in range(2):
        with pytest.raises(IntegrityError, match="two truths"):
            await taken(scene.follow(), 1)
    scene.stored.broken = None
    scene.stored.record(scene.stream, event(NOTE, key="a"))
    async with aclosing(scene.follow()) as items:
        assert await taken(items, 1) == [1]


async def test_closing_the_log_ends_it_for_everybody() -> None:
    scene = Scene()
    items = scene.follow()
    waiting = asyncio.create_task(taken(items, 1))
    await eventually(lambda: scene.stored.looks)
    recording = asyncio.get_running_loop().create_future()
    scene.live.finish(recording)
    closing = asyncio.create_task(scene.live.close())
    await asyncio.sleep(0.01)
    assert not closing.done(), "a message is being recorded"
    recording.set_result(None)
    await closing
    with pytest.raises(Unavailable, match="the log cannot be reached: it is closed"):
        await waiting
    with pytest.raises(Unavailable):
        await taken(scene.follow(), 1)


async def test_who_is_slow_holds_up_nobody_and_reads_the_rest_where_it_is_stored() -> None:
    scene = Scene()
    scene.stored.record(scene.stream, event(NOTE, key="a"))
    async with aclosing(scene.follow(1)) as slow, aclosing(scene.follow(1)) as quick:
        scene.stored.record(scene.stream, event(NOTE, key="b"))
        assert await taken(slow, 1) == await taken(quick, 1) == [2]
        reads = scene.stored.reads
        for round_ in range(3):
            first = 3 + 200 * round_
            scene.stored.record(scene.stream, *[event(NOTE, key="c")] * 200)
            assert await taken(quick, 200) == list(range(first, first + 200))
        assert scene.stored.reads == reads
        assert await taken(slow, 600) == list(range(3, 603))
        assert scene.stored.reads == reads + 1  # a page of 500; the tail has the rest


async def test_who_come_to_the_same_place_at_once_read_it_once() -> None:
    scene = Scene()
    scene.stored.record(scene.stream, *[event(NOTE, key="a")] * 600)
    followers = [scene.follow() for _ in range(50)]
    gone, *others = [asyncio.create_task(taken(items, 600)) for items in followers]
    await eventually(lambda: scene.stored.reads)
    gone.cancel()
    for found in await asyncio.gather(*others):
        assert found == list(range(1, 601))
    assert scene.stored.reads == 2
    for items in followers:
        await items.aclose()
