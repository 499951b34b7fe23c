"""The `appends` topic for roles that ask for something themselves: batches, and where they went."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Self

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from agentjournal.ids import Partition, Position
from agentjournal.kafka_producers import abandon_producer, new_producer
from agentjournal.settings import Settings
from consumers.janitor_expiry import Asked
from streams.ports import OutageError

_BATCH_BYTES = 900_000  # below the topic's max.message.bytes
_ACK_TIMEOUT_S = 20.0


class KafkaRequests:
    """Writes requests; use it as an async context manager. It connects when there are some."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._producer: AIOKafkaProducer | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._abandon()

    async def send(self, requests: Sequence[Asked]) -> Mapping[Partition, Position]:
        """Write requests, in order within a partition; return where the last of each went.

        Raises OutageError when not all were acknowledged in time: any of them may be there.
        """
        waiting: dict[Partition, list[tuple[bytes, bytes]]] = {}
        for each in requests:
            record = each.stream.encode(), each.request.encoded()
            waiting.setdefault(each.partition, []).append(record)
        last: dict[Partition, Position] = {}
        try:
            producer = await self._started()
            while waiting:
                async with asyncio.timeout(_ACK_TIMEOUT_S):
                    last |= await self._send_some(producer, waiting)
                waiting = {partition: left for partition, left in waiting.items() if left}
        except (KafkaError, TimeoutError, OSError) as error:
            await self._abandon()
            raise OutageError(f"Kafka: {error!r}") from error
        except BaseException:
            await self._abandon()
            raise
        return last

    async def _send_some(
        self,
        producer: AIOKafkaProducer,
        waiting: Mapping[Partition, list[tuple[bytes, bytes]]],
    ) -> dict[Partition, Position]:
        """Write one batch a partition, and take what is in it off the list."""
        acks: dict[Partition, tuple[int, asyncio.Future[Any]]] = {}
        for partition, records in waiting.items():
            batch = producer.create_batch()
            count = 0
            while count < len(records):
                key, value = records[count]
                if batch.append(key=key, value=value, timestamp=None) is None:
                    break
                count += 1
            batch.close()  # an open one would take in what others send
            del records[:count]
            topic = self._settings.appends
            ack = await producer.send_batch(batch, topic, partition=partition)
            acks[partition] = count, ack
        last: dict[Partition, Position] = {}
        for partition, (count, ack) in acks.items():
            base = (await ack).offset
            if base < 0:
                # It was there already, from an attempt whose ack was lost: not known where.
                raise OutageError("Kafka: the place of a batch is not known")
            last[partition] = Position(base + count - 1)
        return last

    async def _started(self) -> AIOKafkaProducer:
        if self._producer is None:
            self._producer = await new_producer(self._settings, max_batch_size=_BATCH_BYTES)
        return self._producer

    async def _abandon(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            await abandon_producer(producer)
