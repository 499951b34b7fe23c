"""What is followed, streamed and counted in a log in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence

from agentjournal.drafts import Draft, KeptDraft, Piece
from agentjournal.envelope import Recorded
from agentjournal.errors import StreamParked
from agentjournal.ids import StreamId, Version
from agentjournal.testing.world import DraftStore, World


class MemoryEvents:
    """Events of many streams, for those who follow them."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def heads(self, streams: Collection[StreamId]) -> Mapping[StreamId, Version]:
        """Return the last version of those that have events."""
        found = {stream: self._world.streams.get(stream) for stream in streams}
        return {stream: events[-1].version for stream, events in found.items() if events}

    async def behind(self, versions: Mapping[StreamId, Version], most: int) -> Sequence[Recorded]:
        """Return `most` events behind these versions, or all that there are."""
        streams = self._world.streams
        found: list[Recorded] = []
        for stream, version in versions.items():
            found += streams.get(stream, [])[version:]
        return found[:most]

    async def read(self, stream: StreamId, after: int, most: int) -> Sequence[Recorded]:
        """Return up to `most` events with version > `after`."""
        return self._world.streams.get(stream, [])[after:][:most]

    async def parked(
        self,
        streams: Collection[StreamId],  # noqa: ARG002 - of the port
    ) -> Mapping[StreamId, StreamParked]:
        """Return none: the events that are read are the log itself."""
        return {}

    async def appended(self, stream: StreamId, append_ids: Collection[str]) -> Collection[str]:
        """Return which of these appends the stream has."""
        events = self._world.streams.get(stream, [])
        return {event.append_id for event in events}.intersection(append_ids)


class MemoryFeed:
    """Pieces of followed streams."""

    def __init__(
        self,
        store: DraftStore,
        deliver: Callable[[StreamId, Piece], None],
        begun: Callable[[StreamId], None],
    ) -> None:
        self._store, self.deliver, self._begun = store, deliver, begun
        self.followed: set[StreamId] = set()
        store.feeds.append(self)

    def follow(self, stream: StreamId) -> None:
        """Deliver the pieces of a stream from now on."""
        self.followed.add(stream)
        asyncio.get_running_loop().call_soon(self._begun, stream)

    def unfollow(self, stream: StreamId) -> None:
        """Deliver no more."""
        self.followed.discard(stream)

    async def close(self) -> None:
        """Deliver nothing more."""
        if self in self._store.feeds:
            self._store.feeds.remove(self)


class MemoryDrafts:
    """Drafts as one client keeps and follows them."""

    def __init__(self, world: World) -> None:
        self._world, self._store = world, world.drafts

    async def put(self, stream: StreamId, draft: Draft, text: str, published: int) -> None:
        """Keep a draft, and publish what is behind `published` characters."""
        kept = self._store.kept.setdefault(stream, {})
        kept[draft.draft_id] = draft, text, self._world.clock.now()
        piece = Piece(draft.draft_id, draft.message_id, draft.role, published, text[published:])
        for feed in [feed for feed in self._store.feeds if stream in feed.followed]:
            asyncio.get_running_loop().call_soon(feed.deliver, stream, piece)

    async def kept(self, streams: Sequence[StreamId]) -> Mapping[StreamId, Sequence[KeptDraft]]:
        """Return the drafts of those streams that have any."""
        now, kept = self._world.clock.now(), self._store.kept
        return {
            stream: [
                KeptDraft(draft, text, (now - heard).total_seconds())
                for draft, text, heard in kept[stream].values()
            ]
            for stream in streams
            if kept.get(stream)
        }

    async def drop(self, stream: StreamId, draft_id: str) -> None:
        """Forget a draft."""
        self._store.kept.get(stream, {}).pop(draft_id, None)

    def feed(
        self, deliver: Callable[[StreamId, Piece], None], begun: Callable[[StreamId], None]
    ) -> MemoryFeed:
        """Return a feed of pieces."""
        return MemoryFeed(self._store, deliver, begun)

    async def close(self) -> None:
        """Nothing is open."""


class MemoryCounters:
    """Counters, exact to the millisecond of the log's clock."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def add(self, tenant: str, name: str, window_s: float, by: int) -> int:
        """Count `by`, which may be 0, and return what counts in the window."""
        now = self._world.clock.now()
        counted = self._world.counted.setdefault((tenant, name, window_s), [])
        counted[:] = [each for each in counted if (now - each[0]).total_seconds() <= window_s]
        if by:
            counted.append((now, by))
        return sum(each for _, each in counted)

    async def close(self) -> None:
        """Nothing is open."""
