"""The `appends` topic for the sequencer: manual positions, no group, no silent skipping."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Self

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError, OffsetOutOfRangeError

from agentjournal.errors import IntegrityError
from agentjournal.ids import Milliseconds, Partition, Position
from agentjournal.kafka_consumers import stop_consumer
from agentjournal.kafka_options import client_options
from agentjournal.settings import Settings
from streams.decide import Input
from streams.ports import Bounds, OutageError

LOG_APPEND_TIME = 1
# One fetch is in flight per broker: a long wait at the end of one partition holds up the next.
SHORT_WAIT_MS = 20
_READ_TIMEOUT_S = 15.0
_FETCH_BYTES = 1_100_000  # a partition and poll; above the largest request


class KafkaAppends:
    """Reads requests; use it as an async context manager."""

    def __init__(self, settings: Settings) -> None:
        self._topic = settings.appends
        self._options = client_options(settings)
        self._consumer = self._new_consumer()
        self._single = self._new_consumer(wait_ms=SHORT_WAIT_MS)
        self._reading = asyncio.Lock()  # it has one assignment at a time

    def _new_consumer(self, *, wait_ms: int = 500) -> AIOKafkaConsumer:
        return AIOKafkaConsumer(
            **self._options,
            auto_offset_reset="none",
            enable_auto_commit=False,
            max_partition_fetch_bytes=_FETCH_BYTES,
            fetch_min_bytes=1,
            fetch_max_wait_ms=wait_ms,
        )

    async def __aenter__(self) -> Self:
        await self._consumer.start()
        await self._single.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await stop_consumer(self._consumer)
        await stop_consumer(self._single)

    async def bounds(self, partition: Partition) -> Bounds:
        """Return the positions that the broker holds now."""
        return await bounds_of(self._single, self._tp(partition))

    async def read_one(self, partition: Partition, position: Position) -> Input | None:
        """Return the request at `position`, or None when the log does not hold it any more."""
        async with self._reading:
            record = await record_at(self._single, self._tp(partition), position)
        return None if record is None else _as_input(record)

    def assign(self, places: Mapping[Partition, Position]) -> None:
        """Read these partitions from these positions on, and no others."""
        if not places:
            self._consumer.unsubscribe()
            return
        # Seeking in the same breath as assigning leaves the fetcher no moment to start elsewhere.
        self._consumer.assign([self._tp(partition) for partition in places])
        for partition, position in places.items():
            self._consumer.seek(self._tp(partition), position)

    async def poll(self, *, timeout_s: float) -> Mapping[Partition, Sequence[Input]]:
        """Return what has arrived, by partition and in order; empty after `timeout_s`."""
        try:
            polled = await self._consumer.getmany(
                timeout_ms=int(timeout_s * 1_000), max_records=4_000
            )
        except OffsetOutOfRangeError as error:
            raise IntegrityError(f"{self._topic} was trimmed past what is next: {error}") from error
        except KafkaError as error:
            raise OutageError(f"Kafka: {error!r}") from error
        return {
            Partition(tp.partition): [_as_input(record) for record in records]
            for tp, records in polled.items()
        }

    def end_seen(self, partition: Partition) -> Position | None:
        """Return the position behind the last request, as the broker said when it was last read."""
        return end_seen(self._consumer, self._tp(partition))

    def _tp(self, partition: Partition) -> TopicPartition:
        return TopicPartition(self._topic, partition)


def _as_input(record: ConsumerRecord[Any, Any]) -> Input:
    if record.timestamp_type != LOG_APPEND_TIME:
        raise IntegrityError(
            f"{record.topic} must have message.timestamp.type=LogAppendTime: "
            "leases and expiry go by the broker's clock"
        )
    return Input(Position(record.offset), Milliseconds(record.timestamp), record.key, record.value)


def end_seen(consumer: AIOKafkaConsumer, tp: TopicPartition) -> Position | None:
    """Return the position behind the last record that the broker spoke of; None: of none yet."""
    if tp not in consumer.assignment():
        return None
    end = consumer.highwater(tp)
    return None if end is None or end < 0 else Position(end)


async def bounds_of(consumer: AIOKafkaConsumer, tp: TopicPartition) -> Bounds:
    """Return the first position the broker holds and the one after the last."""
    try:
        start = await consumer.beginning_offsets([tp])
        end = await consumer.end_offsets([tp])
    except KafkaError as error:
        raise OutageError(f"Kafka: {error!r}") from error
    return Bounds(Position(start[tp]), Position(end[tp]))


async def record_at(
    consumer: AIOKafkaConsumer, tp: TopicPartition, position: Position
) -> ConsumerRecord[Any, Any] | None:
    """Return the record at `position`, or None when the log does not hold it."""
    bounds = await bounds_of(consumer, tp)
    if not bounds.start <= position < bounds.end:
        return None
    consumer.assign([tp])
    consumer.seek(tp, position)
    try:
        async with asyncio.timeout(_READ_TIMEOUT_S):
            record = await consumer.getone(tp)
    except (KafkaError, TimeoutError) as error:
        raise OutageError(f"Kafka: {error!r}") from error
    return record if record.offset == position else None
