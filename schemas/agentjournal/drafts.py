"""Drafts: messages that are still being written, and what must be had to show and to keep them.

A draft lives in a store that may lose it at any time; the log knows nothing of it. Its text only
grows, so of two copies the longer one is right, and a place in it is a number of characters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from agentjournal.codec import decode, encode
from agentjournal.events.message import Role
from agentjournal.ids import StreamId

BEAT_S = 2.0  # how often a writer says at least that it is there
ABANDONED_S = 15.0  # a writer that was not heard of for so long is taken for dead


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a message that is still being written; its `message.added` will supersede it.

    `offset` is the number of the message's characters before it: as many as came before. Where it
    is 0 again, the message was begun anew under the same id, and replaces what came of it.
    """

    message_id: str
    role: str
    text: str
    offset: int


class Draft(NamedTuple):
    """Who writes which message. A message that is begun anew is another draft."""

    draft_id: str
    message_id: str
    role: Role
    name: str | None = None
    model_call_id: str | None = None
    fence: int | None = None  # of the lease that its writer holds


class Piece(NamedTuple):
    """What a draft grew by: `text` behind its first `offset` characters."""

    draft_id: str
    message_id: str
    role: str
    offset: int
    text: str


class KeptDraft(NamedTuple):
    """A draft as it is kept for those who come later."""

    draft: Draft
    text: str
    idle_s: float  # since its writer was last heard of


class Feed(Protocol):
    """Pieces of followed streams, as they are published."""

    def follow(self, stream: StreamId) -> None:
        """Deliver the pieces of a stream from soon on."""
        ...

    def unfollow(self, stream: StreamId) -> None: ...

    async def close(self) -> None: ...


class Drafts(Protocol):
    """Keeps drafts for a while, and tells those who follow how they grow."""

    async def put(self, stream: StreamId, draft: Draft, text: str, published: int) -> None:
        """Keep a draft whose text is `text`, and publish what is behind `published` characters.

        Raises Unavailable; whether it was kept is not known then.
        """
        ...

    async def kept(self, streams: Sequence[StreamId]) -> Mapping[StreamId, Sequence[KeptDraft]]:
        """Return the drafts of those streams that have any. Raises Unavailable."""
        ...

    async def drop(self, stream: StreamId, draft_id: str) -> None:
        """Forget a draft: it is recorded. When the store is away, its time will pass there."""
        ...

    def feed(
        self, deliver: Callable[[StreamId, Piece], None], begun: Callable[[StreamId], None]
    ) -> Feed:
        """Return a feed that calls `deliver` with every piece that is published.

        `begun` is called when nothing is missed from here on: first, and after every outage.
        """
        ...

    async def close(self) -> None: ...


def append_id_of(message_id: str) -> str:
    """Return the append id of a streamed message: the log takes one of them, whoever records it."""
    return f"streamed-{hashlib.sha256(message_id.encode()).hexdigest()[:32]}"


def is_abandoned(kept: KeptDraft, idle_s: float, fence: int | None) -> bool:
    """Return whether nobody goes on with a draft, as seen by who writes under `fence`.

    A writer that held an earlier lease may still be there, but can record nothing any more.
    """
    writers = kept.draft.fence
    overtaken = writers is not None and fence is not None and writers < fence
    return overtaken or kept.idle_s >= idle_s


def encode_draft(draft: Draft) -> bytes:
    """Return a draft, but for its id, as it is kept beside its text."""
    return encode(list(draft[1:]))


def decode_draft(draft_id: str, raw: bytes) -> Draft:
    """Return a draft. Raises TypeError or ValueError when it is none."""
    return Draft(draft_id, *decode(raw))


def encode_piece(piece: Piece) -> bytes:
    """Return a piece as it is published; any text survives."""
    return encode(list(piece))


def decode_piece(raw: bytes) -> Piece:
    """Return a piece. Raises TypeError or ValueError when it is none."""
    draft_id, message_id, role, offset, text = decode(raw)
    if not (type(offset) is int and type(text) is str and type(draft_id) is str):
        raise ValueError("not a piece of a message")
    return Piece(draft_id, message_id, role, offset, text)
