"""Answers to clients over Redis channels: one publish per client and loop, lost without harm."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from agentjournal.receipts import Answer, encode_answers
from agentjournal.settings import Settings

_LOG = structlog.get_logger()
_QUIET_S = 0.5  # after a failure nothing is tried for so long: the log must not wait for Redis


class RedisAnswers:
    """Publishes answers; a client that misses one asks again."""

    def __init__(self, settings: Settings) -> None:
        self._redis = Redis.from_url(
            settings.redis, socket_timeout=1, socket_connect_timeout=1, protocol=3
        )
        self._quiet_until = 0.0

    async def send(self, answers: Sequence[tuple[str, Answer]]) -> None:
        """Publish answers by channel, each client's in order."""
        if not answers or time.monotonic() < self._quiet_until:
            return
        by_channel: defaultdict[str, list[Answer]] = defaultdict(list)
        for reply_to, answer in answers:
            by_channel[reply_to].append(answer)
        try:
            async with self._redis.pipeline(transaction=False) as pipeline:
                for channel, batch in by_channel.items():
                    pipeline.publish(channel, encode_answers(batch))
                await pipeline.execute()
        except (RedisError, OSError, TimeoutError) as error:
            kind = type(error).__name__
            _LOG.warning("answers_lost", count=len(answers), reason=str(error), kind=kind)
            self._quiet_until = time.monotonic() + _QUIET_S

    async def close(self) -> None:
        """Close the connection."""
        await self._redis.aclose()
