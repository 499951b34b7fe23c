"""Following streams: all who follow in a process share one reader of events, and one of drafts."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing, contextmanager
from typing import Any

from agentjournal.artifacts import Artifacts
from agentjournal.drafts import Drafts
from agentjournal.envelope import Recorded
from agentjournal.errors import IntegrityError, Unavailable
from agentjournal.ids import StreamId
from agentjournal.live_readers import DraftReader, EventReader, Events
from agentjournal.offloading import whole
from agentjournal.tails import LiveItem, Place, Tail

_PAGE = 500  # events that a follower reads at once where they are stored
_READERS = 2  # pages that are read there at once; who wants another waits in line
_PATIENCE_S = 5.0  # how long the log waits for messages to be recorded when it is closed


class Live:
    """Serves all who follow streams; reads while anybody does."""

    def __init__(self, stored: Events, drafts: Drafts, artifacts: Artifacts | None = None) -> None:
        self.stored, self.drafts = stored, drafts
        self._artifacts = artifacts
        self._tails: dict[StreamId, Tail] = {}
        self._followers: Counter[StreamId] = Counter()
        self._event_reader = EventReader(stored, self._tails)
        self._draft_reader = DraftReader(drafts, stored, self._tails)
        self._reading = asyncio.Semaphore(_READERS)
        self._pages: dict[tuple[StreamId, int], asyncio.Future[Sequence[Recorded]]] = {}
        self._recordings: set[asyncio.Future[Any]] = set()
        self._is_closed = False

    @property
    def followed(self) -> frozenset[StreamId]:
        """The streams that somebody follows now."""
        return frozenset(self._tails)

    async def follow(
        self, stream: StreamId, after: int, *, deltas: bool
    ) -> AsyncGenerator[LiveItem]:
        """Yield the events behind `after` as they are recorded, and the deltas, for ever.

        Raises StreamParked, Unavailable when Postgres is away or the log is closed.
        """
        with self._following(stream, deltas=deltas) as tail:
            place = Place(tail, after)
            while True:
                changed = tail.changed
                items = place.advance(deltas=deltas)
                if items is None:
                    items = await self._stored(stream, place)
                for item in items:
                    yield await whole(item, self._artifacts) if type(item) is Recorded else item
                if not items:
                    await changed.wait()

    async def events(self, stream: StreamId, after: int) -> AsyncGenerator[Recorded]:
        """Yield the events behind `after` as they are recorded. Raises what `follow` raises."""
        async with aclosing(self.follow(stream, after, deltas=False)) as items:
            async for item in items:
                if type(item) is Recorded:
                    yield item

    def finish(self, recording: asyncio.Future[Any]) -> None:
        """Let `recording` come to its end, though nobody may wait for it any more."""
        self._recordings.add(recording)
        recording.add_done_callback(self._recordings.discard)

    async def close(self) -> None:
        """Let messages be recorded that are about to be, then end for everybody."""
        self._is_closed = True
        if self._recordings:
            await asyncio.wait(self._recordings, timeout=_PATIENCE_S)
        await self._event_reader.stop()
        await self._draft_reader.stop()
        for tail in self._tails.values():
            tail.fail(Unavailable("the log", "it is closed"))
        await self.drafts.close()

    @contextmanager
    def _following(self, stream: StreamId, *, deltas: bool) -> Generator[Tail]:
        if self._is_closed:
            raise Unavailable("the log", "it is closed")
        tail = self._tails.get(stream)
        if tail is None or tail.failure is not None:  # what stopped the others may be over
            tail = self._tails[stream] = Tail()
            self._event_reader.wake()
        self._followers[stream] += 1
        if deltas:
            self._draft_reader.watch(stream)
        try:
            yield tail
        finally:
            if deltas:
                self._draft_reader.unwatch(stream)
            self._followers[stream] -= 1
            if not self._followers[stream]:
                del self._followers[stream], self._tails[stream]

    async def _stored(self, stream: StreamId, place: Place) -> Sequence[Recorded]:
        """Return events that the tail does not hold, and go on behind them."""
        at = (stream, place.after)
        page = self._pages.get(at)
        if page is None:
            page = self._pages[at] = asyncio.ensure_future(self._page(*at))
            page.add_done_callback(lambda done: self._read(at, done))
        events = await asyncio.shield(page)  # others may wait for it too
        place.after = events[-1].version
        return events

    async def _page(self, stream: StreamId, after: int) -> Sequence[Recorded]:
        async with self._reading:
            events = await self.stored.read(stream, after, _PAGE)
        if not events:
            raise IntegrityError(f"{stream}: events behind version {after} are missing")
        return events

    def _read(self, at: tuple[StreamId, int], page: asyncio.Future[Sequence[Recorded]]) -> None:
        del self._pages[at]
        if not page.cancelled():
            page.exception()  # those who waited for it may all have left
