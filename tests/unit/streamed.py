"""Doubles of what a streamed message is recorded by and shown in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agentjournal import (
    MessageAdded,
    Receipt,
    StreamedMessage,
    Unavailable,
)
from agentjournal.drafts import (
    Draft,
    Feed,
    KeptDraft,
    Piece,
    append_id_of,
)
from agentjournal.events import Event
from agentjournal.ids import Partition, Position, StreamId, Version, stream_id

STREAM = stream_id("session", "t", "s")
DRAFT = Draft("draft", "m-1", "assistant")


@dataclass
class Kept:
    """Keeps one draft, and may be away."""

    text: str = ""
    puts: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    dropped: list[str] = field(default_factory=list[str])
    is_away: bool = False
    tries: int = 0

    async def put(self, stream: StreamId, draft: Draft, text: str, published: int) -> None:
        assert (stream, draft) == (STREAM, DRAFT)
        await asyncio.sleep(0)
        self.tries += 1
        if self.is_away:
            raise Unavailable("Redis", "it is away")
        assert text[:published] == self.text[:published]
        self.puts.append((text[published:], published))
        self.text = text

    async def kept(self, streams: Sequence[StreamId]) -> Mapping[StreamId, Sequence[KeptDraft]]:
        return {stream: [KeptDraft(DRAFT, self.text, 0.0)] for stream in streams}

    async def drop(self, stream: StreamId, draft_id: str) -> None:
        assert stream == STREAM
        self.dropped.append(draft_id)

    def feed(
        self, deliver: Callable[[StreamId, Piece], None], begun: Callable[[StreamId], None]
    ) -> Feed:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError


@dataclass
class Recorder:
    """Stands for a session that appends."""

    refusal: Exception | None = None
    appends: list[tuple[list[Event], str]] = field(default_factory=list[tuple[list[Event], str]])
    kept: list[asyncio.Future[Receipt]] = field(default_factory=list[asyncio.Future[Receipt]])
    may_go_on: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.may_go_on.set()

    async def record(self, events: Sequence[Event], append_id: str) -> Receipt:
        await self.may_go_on.wait()
        if self.refusal is not None:
            raise self.refusal
        self.appends.append((list(events), append_id))
        version = Version(len(self.appends))
        return Receipt(STREAM, Partition(0), Position(0), version, version, False, append_id)

    @property
    def message(self) -> MessageAdded:
        (((message, *_), append_id),) = self.appends
        assert isinstance(message, MessageAdded)
        assert append_id == append_id_of(message.message_id)
        return message


def streamed(
    recorder: Recorder, drafts: Kept | None = None, draft: Draft = DRAFT
) -> StreamedMessage:
    return StreamedMessage(STREAM, draft, drafts, recorder.record, recorder.kept.append)
