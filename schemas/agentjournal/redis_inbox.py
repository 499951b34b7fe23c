"""Answers as they arrive: this client's own channel, resubscribed after every outage."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from agentjournal.errors import Unavailable
from agentjournal.receipts import Answer, decode_answers
from agentjournal.settings import Settings

_PAUSE_S = 0.2


class RedisInbox:
    """Calls `deliver` with every answer on `channel`; one that is lost is asked for again."""

    def __init__(
        self, settings: Settings, channel: str, deliver: Callable[[list[Answer]], None]
    ) -> None:
        self._settings, self.channel, self._deliver = settings, channel, deliver
        self._listening = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._trouble: object = "no answer"

    async def ready(self, timeout_s: float) -> None:
        """Return once answers would arrive. Raises Unavailable when Redis does not answer."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen_for_ever())
        if self._listening.is_set():
            return
        try:
            async with asyncio.timeout(timeout_s):
                await self._listening.wait()
        except TimeoutError:
            raise Unavailable("Redis", self._trouble) from None

    async def close(self) -> None:
        """Stop listening."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _listen_for_ever(self) -> None:
        while True:
            try:
                await self._listen()
            except (RedisError, OSError) as error:
                self._trouble = error
            self._listening.clear()
            await asyncio.sleep(_PAUSE_S)

    async def _listen(self) -> None:
        redis = Redis.from_url(
            self._settings.redis, socket_connect_timeout=2, health_check_interval=5, protocol=3
        )
        async with redis, redis.pubsub(ignore_subscribe_messages=False) as pubsub:
            await pubsub.subscribe(self.channel)
            while True:
                message: dict[str, Any] | None = await pubsub.get_message(timeout=5.0)
                if message is None:
                    await pubsub.ping()
                elif message["type"] == "subscribe":
                    self._listening.set()
                elif message["type"] == "message":
                    with contextlib.suppress(TypeError, ValueError):  # no answers: asked for again
                        self._deliver(decode_answers(message["data"]))
