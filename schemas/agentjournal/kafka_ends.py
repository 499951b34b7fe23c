"""Where the canonical log ends now: what a fresh read waits for."""

from __future__ import annotations

import asyncio

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from agentjournal.errors import Unavailable
from agentjournal.ids import Partition, Position
from agentjournal.kafka_consumers import start_consumer
from agentjournal.kafka_options import client_options
from agentjournal.settings import Settings


class KafkaEnds:
    """Asks the broker for ends of the events log; connects when first asked."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._consumer: AIOKafkaConsumer | None = None
        self._starting = asyncio.Lock()

    async def end_of(self, partition: Partition, *, timeout_s: float = 5.0) -> Position:
        """Return the position after the last event. Raises Unavailable."""
        tp = TopicPartition(self._settings.events, partition)
        try:
            async with asyncio.timeout(timeout_s):
                consumer = await self._started()
                return Position((await consumer.end_offsets([tp]))[tp])
        except TimeoutError as error:
            raise Unavailable("Kafka", f"no answer in {timeout_s:g} s") from error
        except (KafkaError, OSError) as error:
            raise Unavailable("Kafka", error) from error

    async def close(self) -> None:
        """Close the connection."""
        if self._consumer is not None:
            await self._consumer.stop()

    async def _started(self) -> AIOKafkaConsumer:
        async with self._starting:
            if self._consumer is None:
                consumer = AIOKafkaConsumer(
                    **client_options(self._settings), request_timeout_ms=10_000
                )
                await start_consumer(consumer, self._settings.events)
                self._consumer = consumer
            return self._consumer
