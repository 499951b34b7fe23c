"""Drafts in Redis: the text of each so far, for those who come later, and a channel for its pieces.

Of a stream there is a hash with its drafts and when each was last heard of, and the text of each.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from agentjournal.drafts import (
    Draft,
    KeptDraft,
    Piece,
    decode_draft,
    encode_draft,
    encode_piece,
)
from agentjournal.errors import Unavailable
from agentjournal.ids import StreamId
from agentjournal.redis_feed import RedisFeed
from agentjournal.settings import Settings

KEPT_MS = 86_400_000  # a draft that nobody records is gone after a day
_TIMEOUT_S = 0.5
_CONNECTIONS = 8

# ARGV: draft, what it is, time to live, bytes of the text before, bytes behind it, what to publish.
# The text is only added to; where it is not as long as the writer knows, it was lost.
_ADD = """
if redis.call('STRLEN', KEYS[2]) ~= tonumber(ARGV[4]) then return 0 end
if ARGV[5] ~= '' then redis.call('APPEND', KEYS[2], ARGV[5]) end
local now = redis.call('TIME')
redis.call('HSET', KEYS[1], ARGV[1], now[1] .. '.' .. now[2] .. ' ' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
if ARGV[6] ~= '' then redis.call('PUBLISH', KEYS[1], ARGV[6]) end
return 1
"""


def drafts_key(prefix: str, stream: StreamId) -> str:
    """Return the key of a stream's drafts, which is the name of its channel too."""
    return f"{prefix}live.{{{stream}}}"


def text_key(prefix: str, stream: StreamId, draft_id: str) -> str:
    """Return the key of a draft's text, in the same slot of a cluster."""
    return f"{drafts_key(prefix, stream)}.{draft_id}"


class RedisDrafts:
    """Keeps drafts for a day, or for as long as Redis has them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._prefix = settings.topic_prefix
        self._redis = Redis.from_pool(quick_pool(settings))

    async def put(self, stream: StreamId, draft: Draft, text: str, published: int) -> None:
        """As the port."""
        before, behind = _bytes(text[:published]), text[published:]
        piece = Piece(draft.draft_id, draft.message_id, draft.role, published, behind)
        keys = self._keys(stream, draft.draft_id)
        shown = encode_piece(piece) if behind else b""
        rest = (draft.draft_id, encode_draft(draft), KEPT_MS)
        async with _reached():
            if not await self._redis.eval(
                _ADD, 2, *keys, *rest, len(before), _bytes(behind), shown
            ):
                await self._redis.delete(keys[1])
                await self._redis.eval(_ADD, 2, *keys, *rest, 0, _bytes(text), shown)

    async def kept(self, streams: Sequence[StreamId]) -> Mapping[StreamId, Sequence[KeptDraft]]:
        """As the port."""
        async with _reached(), self._redis.pipeline(transaction=False) as pipeline:
            pipeline.time()
            for stream in streams:
                pipeline.hgetall(drafts_key(self._prefix, stream))
            (seconds, micros), *hashes = await pipeline.execute()
            found = [
                (stream, draft_id.decode(errors="replace"), raw)
                for stream, held in zip(streams, hashes, strict=True)
                for draft_id, raw in held.items()
            ]
            for stream, draft_id, _ in found:
                pipeline.get(text_key(self._prefix, stream, draft_id))
            texts = await pipeline.execute()
        kept: dict[StreamId, list[KeptDraft]] = {}
        for (stream, draft_id, raw), text in zip(found, texts, strict=True):
            if text is None:  # it was lost, or dropped meanwhile
                continue
            with contextlib.suppress(TypeError, ValueError):  # it is none of ours
                heard, written = raw.split(b" ", 1)
                idle_s = seconds + micros / 1e6 - _seconds(heard)
                each = KeptDraft(decode_draft(draft_id, written), _text(text), idle_s)
                kept.setdefault(stream, []).append(each)
        return kept

    async def drop(self, stream: StreamId, draft_id: str) -> None:
        """As the port."""
        drafts, text = self._keys(stream, draft_id)
        with contextlib.suppress(Unavailable):
            async with _reached(), self._redis.pipeline(transaction=True) as pipeline:
                pipeline.hdel(drafts, draft_id)
                pipeline.delete(text)
                await pipeline.execute()

    def feed(
        self, deliver: Callable[[StreamId, Piece], None], begun: Callable[[StreamId], None]
    ) -> RedisFeed:
        """As the port."""
        return RedisFeed(self._settings, self._channel_of, deliver, begun)

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()

    def _channel_of(self, stream: StreamId) -> str:
        return drafts_key(self._prefix, stream)

    def _keys(self, stream: StreamId, draft_id: str) -> tuple[str, str]:
        return drafts_key(self._prefix, stream), text_key(self._prefix, stream, draft_id)


def quick_pool(settings: Settings) -> BlockingConnectionPool:
    """Return a few connections on which nothing is waited for long, nor tried twice."""
    return BlockingConnectionPool.from_url(
        settings.redis,
        max_connections=_CONNECTIONS,
        timeout=_TIMEOUT_S,
        socket_timeout=_TIMEOUT_S,
        socket_connect_timeout=_TIMEOUT_S,
        protocol=3,
        retry=Retry(NoBackoff(), 0),
    )


@asynccontextmanager
async def _reached() -> AsyncGenerator[None]:
    try:
        yield
    except (RedisError, OSError, TimeoutError) as error:
        raise Unavailable("Redis", error) from error


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # one half of a pair is 3 bytes, and stays one


def _text(kept: bytes) -> str:
    return kept.decode("utf-8", "surrogatepass")


def _seconds(heard: bytes) -> float:
    seconds, _, micros = heard.partition(b".")
    return int(seconds) + int(micros) / 1e6
