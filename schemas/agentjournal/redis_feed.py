"""Pieces of drafts as they are published: one connection for all the streams that are followed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from agentjournal.drafts import Piece, decode_piece
from agentjournal.ids import StreamId
from agentjournal.settings import Settings

_PAUSE_S = 0.2
_QUIET_S = 5.0
_CHANNELS = 500  # in one command


class RedisFeed:
    """Subscribes while streams are followed, and again after every outage."""

    def __init__(
        self,
        settings: Settings,
        channel_of: Callable[[StreamId], str],
        deliver: Callable[[StreamId, Piece], None],
        begun: Callable[[StreamId], None],
    ) -> None:
        self._settings, self._channel_of = settings, channel_of
        self._deliver, self._begun = deliver, begun
        self._followed: dict[str, StreamId] = {}  # by channel
        self._subscribed: set[str] = set()
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def follow(self, stream: StreamId) -> None:
        """As the port."""
        channel = self._channel_of(stream)
        self._followed[channel] = stream
        self._changed.set()
        if channel in self._subscribed:  # still: no answer will say so
            self._begun(stream)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._listen_while_followed())

    def unfollow(self, stream: StreamId) -> None:
        """As the port."""
        self._followed.pop(self._channel_of(stream), None)
        self._changed.set()

    async def close(self) -> None:
        """Stop listening."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _listen_while_followed(self) -> None:
        while self._followed:
            with contextlib.suppress(RedisError, OSError, TimeoutError):
                await self._listen()
                continue
            await asyncio.sleep(_PAUSE_S)

    async def _listen(self) -> None:
        """Read on one connection until nothing is followed any more, or it breaks."""
        self._subscribed.clear()
        redis = Redis.from_url(
            self._settings.redis,
            socket_connect_timeout=2,
            health_check_interval=5,
            protocol=3,
            retry=Retry(NoBackoff(), 0),
        )
        async with redis, redis.pubsub(ignore_subscribe_messages=False) as pubsub:
            await self._subscribe(pubsub)
            reading = asyncio.create_task(self._read(pubsub))
            try:
                while self._followed and not reading.done():
                    await self._subscribe(pubsub)
                    changed = asyncio.create_task(self._changed.wait())
                    await asyncio.wait({changed, reading}, return_when=asyncio.FIRST_COMPLETED)
                    changed.cancel()
            finally:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
            if not reading.cancelled():
                reading.result()  # raises what broke the connection

    async def _subscribe(self, pubsub: PubSub) -> None:
        """Subscribe to what is followed by now, and to nothing else."""
        self._changed.clear()
        wanted = list(self._followed.keys() - self._subscribed)
        over = list(self._subscribed - self._followed.keys())
        for at in range(0, len(wanted), _CHANNELS):
            await pubsub.subscribe(*wanted[at : at + _CHANNELS])
            self._subscribed.update(wanted[at : at + _CHANNELS])
        for at in range(0, len(over), _CHANNELS):
            await pubsub.unsubscribe(*over[at : at + _CHANNELS])
            self._subscribed.difference_update(over[at : at + _CHANNELS])

    async def _read(self, pubsub: PubSub) -> None:
        is_asked = False
        while True:
            message: dict[str, Any] | None = await pubsub.get_message(timeout=_QUIET_S)
            if message is None:
                if is_asked:
                    raise TimeoutError("no answer on a connection that is open")
                await pubsub.ping()
            elif message["channel"] is not None:
                self._received(message)
            is_asked = message is None

    def _received(self, message: dict[str, Any]) -> None:
        stream = self._followed.get(message["channel"].decode())
        if stream is None:
            return
        if message["type"] == "subscribe":
            self._begun(stream)
        elif message["type"] == "message":
            with contextlib.suppress(TypeError, ValueError):  # no piece: missed, and looked for
                self._deliver(stream, decode_piece(message["data"]))
