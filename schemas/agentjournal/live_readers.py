"""What keeps tails up to date: one reader of stored events and one of drafts."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from agentjournal.drafts import Drafts, Feed, KeptDraft, Piece, append_id_of
from agentjournal.envelope import Recorded
from agentjournal.errors import AgentJournalError, StreamParked, Unavailable
from agentjournal.ids import StreamId, Version
from agentjournal.tails import Tail

_MOST = 2_000  # events in a look
_POLL_S = 0.05
_SHARE = 2  # a look is followed by a pause of so many times what it took, at least
_OUTAGE_PAUSE_S = 0.5
_SLOW_S = 1.0  # how often is looked for streams that are parked
_FORGET_S = 60.0


class Events(Protocol):
    """Events of many streams at once, as they are stored now."""

    async def heads(self, streams: Collection[StreamId]) -> Mapping[StreamId, Version]:
        """Return the last version of those that have events. Raises Unavailable."""
        ...

    async def behind(self, versions: Mapping[StreamId, Version], most: int) -> Sequence[Recorded]:
        """Return `most` events behind these versions, or all that there are; in the order of each.

        Raises Unavailable.
        """
        ...

    async def read(self, stream: StreamId, after: int, most: int) -> Sequence[Recorded]:
        """Return up to `most` events with version > `after`. Raises StreamParked, Unavailable."""
        ...

    async def parked(self, streams: Collection[StreamId]) -> Mapping[StreamId, StreamParked]:
        """Return those at which the projection of events stopped. Raises Unavailable."""
        ...

    async def appended(self, stream: StreamId, append_ids: Collection[str]) -> Collection[str]:
        """Return which of these appends the stream has. Raises Unavailable."""
        ...


class EventReader:
    """Brings what is recorded into tails, all of them in one look."""

    def __init__(self, events: Events, tails: Mapping[StreamId, Tail]) -> None:
        self._events, self._tails = events, tails
        self._joined = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Look at once: there is a new tail."""
        self._joined.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._read())

    async def stop(self) -> None:
        """Stop reading."""
        await _stopped(self._task)

    async def _read(self) -> None:
        """Look as long as there are tails; what is no outage ends all of them."""
        try:
            await self._look_again_and_again()
        except Exception as error:  # noqa: BLE001 - who follows is to be told, whatever it is
            for tail in self._tails.values():
                tail.fail(error)

    async def _look_again_and_again(self) -> None:
        loop = asyncio.get_running_loop()
        next_slow = next_forgetting = 0.0
        while self._tails:
            self._joined.clear()
            began = loop.time()
            pause = _POLL_S
            with contextlib.suppress(Unavailable):
                pause = _OUTAGE_PAUSE_S
                await self._begin()
                if began >= next_slow:
                    next_slow = began + _SLOW_S
                    await self._find_parked()
                pause = 0.0 if await self._look() == _MOST else _POLL_S
            if began >= next_forgetting:
                next_forgetting = began + _FORGET_S
                for tail in self._tails.values():
                    tail.forget_idle()
            if pause:
                await self._wait(max(pause, _SHARE * (loop.time() - began)))

    async def _begin(self) -> None:
        new = {stream: tail for stream, tail in self._tails.items() if tail.is_new}
        if not new:
            return
        try:
            heads, parked = await self._events.heads(new), await self._events.parked(new)
        except Unavailable as error:  # who begins is told; who has begun waits
            for tail in new.values():
                tail.fail(error)
            raise
        for stream, tail in new.items():
            if stream in parked:
                tail.fail(parked[stream])
            else:
                tail.begin(heads.get(stream, Version(0)))

    async def _find_parked(self) -> None:
        tails = dict(self._tails)
        for stream, parked in (await self._events.parked(tails)).items():
            tails[stream].fail(parked)

    async def _look(self) -> int:
        """Return how many events there were; with as many as may come at once there may be more."""
        tails, versions = dict(self._tails), dict[StreamId, Version]()
        for stream, tail in tails.items():
            if tail.version is not None and tail.failure is None:
                versions[stream] = tail.version
        found: defaultdict[StreamId, list[Recorded]] = defaultdict(list)
        events = await self._events.behind(versions, _MOST) if versions else ()
        for recorded in events:
            found[recorded.stream].append(recorded)
        for stream, following in found.items():
            tails[stream].extend(following)
        return len(events)

    async def _wait(self, pause_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause_s):
                await self._joined.wait()


class DraftReader:
    """Brings drafts into tails: pieces as they are published, the whole where one is missed."""

    def __init__(self, drafts: Drafts, events: Events, tails: Mapping[StreamId, Tail]) -> None:
        self._drafts, self._events, self._tails = drafts, events, tails
        self._watchers: defaultdict[StreamId, int] = defaultdict(int)
        self._to_look: set[StreamId] = set()
        self._feed: Feed | None = None
        self._task: asyncio.Task[None] | None = None

    def watch(self, stream: StreamId) -> None:
        """Let one more see the drafts of a stream."""
        if self._feed is None:
            self._feed = self._drafts.feed(self._deliver, self._look)
        self._watchers[stream] += 1
        if self._watchers[stream] == 1:
            self._feed.follow(stream)
        else:
            self._look(stream)  # the tail may be a new one

    def unwatch(self, stream: StreamId) -> None:
        """Let one fewer see them."""
        self._watchers[stream] -= 1
        if not self._watchers[stream]:
            del self._watchers[stream]
            if self._feed is not None:
                self._feed.unfollow(stream)

    async def stop(self) -> None:
        """Stop reading."""
        await _stopped(self._task)
        if self._feed is not None:
            await self._feed.close()

    def _deliver(self, stream: StreamId, piece: Piece) -> None:
        tail = self._tails.get(stream)
        if tail is not None and not tail.take(piece):
            self._look(stream)

    def _look(self, stream: StreamId) -> None:
        self._to_look.add(stream)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look_at_all())

    async def _look_at_all(self) -> None:
        while self._to_look:
            streams = list(self._to_look)
            self._to_look.clear()
            # Who is away is asked again at the next piece, or when the feed begins anew.
            with contextlib.suppress(AgentJournalError):
                for stream, kept in (await self._drafts.kept(streams)).items():
                    await self._restore(stream, kept)

    async def _restore(self, stream: StreamId, kept: Sequence[KeptDraft]) -> None:
        """Show drafts that are kept, but for those whose message is recorded already."""
        ids = {append_id_of(each.draft.message_id) for each in kept}
        recorded = await self._events.appended(stream, ids)
        tail = self._tails.get(stream)
        if tail is not None:
            tail.restore([k for k in kept if append_id_of(k.draft.message_id) not in recorded])


async def _stopped(task: asyncio.Task[None] | None) -> None:
    if task is not None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
