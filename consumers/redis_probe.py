"""Asking Redis whether it answers."""

from __future__ import annotations

from redis.asyncio import Redis
from redis.exceptions import RedisError

from agentjournal.settings import Settings
from streams.ports import OutageError


class RedisProbe:
    """A connection of its own, so that work under way holds up no question."""

    def __init__(self, settings: Settings) -> None:
        self._redis = Redis.from_url(
            settings.redis, socket_timeout=5, socket_connect_timeout=5, protocol=3
        )

    async def ask(self) -> None:
        """Return once Redis answered. Raises OutageError."""
        try:
            await self._redis.ping()
        except (RedisError, OSError, TimeoutError) as error:
            raise OutageError(f"Redis: {error!r}") from error

    async def close(self) -> None:
        """Close the connection."""
        await self._redis.aclose()
