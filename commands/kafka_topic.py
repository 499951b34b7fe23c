"""A topic as commands read it: by position, outside of any consumer group."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from agentjournal.errors import Unavailable
from agentjournal.ids import Milliseconds, Partition, Position
from agentjournal.kafka_consumers import stop_consumer
from agentjournal.kafka_options import client_options
from agentjournal.settings import Settings
from commands.errors import CommandFailed
from streams.ports import Bounds

_FETCH_BYTES = 2_200_000  # a partition; above the largest record
_MOST_RECORDS = 2_000
_SILENCE_S = 30.0  # without a record that the broker says it has


class TopicRecord(NamedTuple):
    """A record as it stands in a topic."""

    partition: Partition
    position: Position
    timestamp_ms: Milliseconds
    key: bytes
    value: bytes
    headers: Mapping[str, bytes]


class KafkaTopic:
    """Reads one topic; use it as an async context manager. Everything may raise Unavailable."""

    def __init__(self, settings: Settings, topic: str) -> None:
        self._topic = topic
        self._options = client_options(settings)
        self._consumer = AIOKafkaConsumer(
            **self._options,
            auto_offset_reset="none",
            enable_auto_commit=False,
            max_partition_fetch_bytes=_FETCH_BYTES,
            fetch_min_bytes=1,
        )

    async def __aenter__(self) -> Self:
        try:
            await self._consumer.start()
        except (KafkaError, OSError) as error:
            await stop_consumer(self._consumer)
            raise Unavailable("Kafka", error) from error
        return self

    async def __aexit__(self, *_: object) -> None:
        await stop_consumer(self._consumer)

    async def bounds(self) -> Mapping[Partition, Bounds]:
        """Return the positions that the broker holds now, by partition.

        Raises CommandFailed when there is no such topic.
        """
        tps = [TopicPartition(self._topic, partition) for partition in await self._partitions()]
        try:
            starts = await self._consumer.beginning_offsets(tps)
            ends = await self._consumer.end_offsets(tps)
        except KafkaError as error:
            raise Unavailable("Kafka", error) from error
        return {
            Partition(tp.partition): Bounds(Position(starts[tp]), Position(ends[tp])) for tp in tps
        }

    async def _partitions(self) -> list[int]:
        admin = AIOKafkaAdminClient(**self._options)
        try:
            await admin.start()
            described = await admin.describe_topics([self._topic])
        except (KafkaError, OSError) as error:
            raise Unavailable("Kafka", error) from error
        finally:
            await admin.close()
        found = sorted(each["partition"] for topic in described for each in topic["partitions"])
        if not found:
            raise CommandFailed(f"there is no topic {self._topic}: `agentjournal init` makes it")
        return found

    async def read(self, spans: Mapping[Partition, Bounds]) -> AsyncIterator[TopicRecord]:
        """Yield the records of each partition from `start` to before `end`, in its order."""
        left = {p: span.end for p, span in spans.items() if span.start < span.end}
        self.assign({partition: spans[partition].start for partition in left})
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _SILENCE_S
        while left:
            records = await self.poll(timeout_s=1.0)
            for record in records:
                if record.position < left.get(record.partition, -1):
                    yield record
            for partition, end in list(left.items()):
                if await self._position(partition) >= end:
                    del left[partition]
            if records:
                deadline = loop.time() + _SILENCE_S
            elif loop.time() > deadline:
                raise Unavailable("Kafka", f"no record of {self._topic} came for {_SILENCE_S:g} s")

    def assign(self, places: Mapping[Partition, Position]) -> None:
        """Read these partitions from these positions on, and no others."""
        if not places:
            self._consumer.unsubscribe()
            return
        # Seeking in the same breath as assigning leaves the fetcher no moment to start elsewhere.
        self._consumer.assign([self._tp(partition) for partition in places])
        for partition, position in places.items():
            self._consumer.seek(self._tp(partition), position)

    async def poll(self, *, timeout_s: float) -> Sequence[TopicRecord]:
        """Return what has arrived; empty after `timeout_s`."""
        try:
            polled = await self._consumer.getmany(
                timeout_ms=int(timeout_s * 1_000), max_records=_MOST_RECORDS
            )
        except KafkaError as error:
            raise Unavailable("Kafka", error) from error
        return [_record(record) for records in polled.values() for record in records]

    async def _position(self, partition: Partition) -> int:
        try:
            return int(await self._consumer.position(self._tp(partition)))
        except KafkaError as error:
            raise Unavailable("Kafka", error) from error

    def _tp(self, partition: Partition) -> TopicPartition:
        return TopicPartition(self._topic, partition)


def _record(record: ConsumerRecord[Any, Any]) -> TopicRecord:
    return TopicRecord(
        Partition(record.partition),
        Position(record.offset),
        Milliseconds(record.timestamp),
        record.key or b"",
        record.value or b"",
        dict(record.headers),
    )


def last_spans(bounds: Mapping[Partition, Bounds], most: int) -> dict[Partition, Bounds]:
    """Return the positions of the last `most` records of each partition."""
    return {
        partition: Bounds(Position(max(span.start, span.end - most)), span.end)
        for partition, span in bounds.items()
    }
