"""The `events` and `dead` topics for the sequencer: one batch a partition in flight, then an ack.

Source: the rules follow from a reproduced fault. Of two batches in flight a fresh idempotent
producer can lose the first and have the second accepted, which leaves a hole in the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Self

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError

from agentjournal.ids import Partition, Position
from agentjournal.kafka_consumers import stop_consumer
from agentjournal.kafka_options import client_options
from agentjournal.kafka_producers import abandon_producer, new_producer
from agentjournal.receipts import Refusal
from agentjournal.requests import decode_request
from agentjournal.settings import Settings
from consumers.kafka_appends import SHORT_WAIT_MS, bounds_of, record_at
from streams.decide import Input
from streams.partition_fold import Stored
from streams.ports import Bounds, EmissionUnknownError, OutageError

_CHUNK_BYTES = 900_000  # of records in one batch; a single larger request goes alone
_BATCH_BYTES = 2_000_000  # below the topic's max.message.bytes, above any one request's records
_ACK_TIMEOUT_S = 20.0
_ACKS_BEFORE_RENEWAL = 2**30  # sequence numbers wrap wrongly after 2**31 records of a producer

Record = tuple[bytes, bytes]  # key, value


class KafkaEvents:
    """Writes canonical records and dead letters; use it as an async context manager."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._consumer = AIOKafkaConsumer(
            **client_options(settings),
            auto_offset_reset="none",
            enable_auto_commit=False,
            max_partition_fetch_bytes=4_000_000,
            fetch_max_wait_ms=SHORT_WAIT_MS,
        )
        self._reading = asyncio.Lock()  # the consumer has one assignment at a time
        self._producer: AIOKafkaProducer | None = None
        self._dead_producer: AIOKafkaProducer | None = None
        self._written = 0

    async def __aenter__(self) -> Self:
        await self._consumer.start()
        await self.renew_producer()
        return self

    async def __aexit__(self, *_: object) -> None:
        await stop_consumer(self._consumer)
        await self._abandon()

    async def renew_producer(self) -> None:
        """Throw the producers away without waiting for what they hold, and start new ones."""
        await self._abandon()
        try:
            self._producer = await new_producer(self._settings, max_batch_size=_BATCH_BYTES)
            self._dead_producer = await new_producer(self._settings, max_batch_size=_BATCH_BYTES)
        except (KafkaError, OSError) as error:
            raise EmissionUnknownError(f"Kafka: {error!r}") from error
        self._written = 0

    async def _abandon(self) -> None:
        for producer in (self._producer, self._dead_producer):
            if producer is not None:
                await abandon_producer(producer)
        self._producer = self._dead_producer = None

    async def bounds(self, partition: Partition) -> Bounds:
        """Return the positions that the broker holds now."""
        return await bounds_of(self._consumer, self._tp(partition))

    async def read_one(self, partition: Partition, position: Position) -> Stored | None:
        """Return the record at `position`, or None when the log does not hold it any more."""
        async with self._reading:
            record = await record_at(self._consumer, self._tp(partition), position)
        return None if record is None else _as_stored(record)

    async def read(self, partition: Partition, span: Bounds) -> AsyncGenerator[Sequence[Stored]]:
        """Yield the records from `span.start` to before `span.end`, some at a time."""
        if span.start >= span.end:
            return
        tp = self._tp(partition)
        async with self._reading:
            self._consumer.assign([tp])
            self._consumer.seek(tp, span.start)
            position = span.start
            while position < span.end:
                try:
                    polled = await self._consumer.getmany(tp, timeout_ms=1_000, max_records=500)
                except KafkaError as error:
                    raise OutageError(f"Kafka: {error!r}") from error
                stored = map(_as_stored, polled.get(tp, ()))
                yield [each for each in stored if each.position < span.end]
                position = Position(await self._consumer.position(tp))

    async def write(
        self, records: Mapping[Partition, Sequence[Record]]
    ) -> Mapping[Partition, Stored]:
        """Write records in order; return the last of each partition as it stands in the log.

        Raises EmissionUnknownError when any was not acknowledged in time.
        """
        last: dict[Partition, Stored] = {}
        chunks = {partition: _chunks(batch) for partition, batch in records.items()}
        try:
            while chunks:
                ready = {partition: waiting.pop(0) for partition, waiting in chunks.items()}
                chunks = {partition: waiting for partition, waiting in chunks.items() if waiting}
                last.update(await self._write_chunks(self._settings.events, ready))
            if self._written > _ACKS_BEFORE_RENEWAL:
                await self.renew_producer()
        except (KafkaError, TimeoutError, OSError) as error:
            raise EmissionUnknownError(str(error) or type(error).__name__) from error
        return last

    async def _write_chunks(
        self, topic: str, ready: Mapping[Partition, Sequence[Record]]
    ) -> dict[Partition, Stored]:
        producer = self._producer
        if producer is None:
            raise EmissionUnknownError("no producer")
        acks: dict[Partition, asyncio.Future[Any]] = {}
        async with asyncio.timeout(_ACK_TIMEOUT_S):
            for partition, chunk in ready.items():
                batch = producer.create_batch()
                for key, value in chunk:
                    if batch.append(key=key, value=value, timestamp=None) is None:
                        raise EmissionUnknownError("a batch does not hold what it was cut for")
                batch.close()  # an open one would take in what others send
                acks[partition] = await producer.send_batch(batch, topic, partition=partition)
            await asyncio.wait(acks.values())
        self._written += sum(map(len, ready.values()))
        return {
            partition: await self._last_written(partition, ready[partition], ack.result().offset)
            for partition, ack in acks.items()
        }

    async def _last_written(
        self, partition: Partition, chunk: Sequence[Record], base: int
    ) -> Stored:
        key, value = chunk[-1]
        if base >= 0:
            return Stored(Position(base + len(chunk) - 1), key, value)
        # The broker knew the batch already and does not say where: what ends the log now will do.
        bounds = await self.bounds(partition)
        found = await self.read_one(partition, Position(bounds.end - 1))
        if found is None:
            raise EmissionUnknownError("the end of the log moved while it was read")
        return found

    async def write_dead(self, letters: Sequence[tuple[Partition, Input, Refusal]]) -> None:
        """Write refused requests as they came, the reason in headers, and wait for the ack.

        Raises EmissionUnknownError when any was not acknowledged in time.
        """
        producer = self._dead_producer
        if producer is None:
            raise EmissionUnknownError("no producer")
        try:
            async with asyncio.timeout(_ACK_TIMEOUT_S):
                acks = [
                    await producer.send(
                        self._settings.dead,
                        key=given.key,
                        value=given.value if given.value is not None else b"",
                        headers=_dead_headers(partition, given, refusal),
                    )
                    for partition, given, refusal in letters
                ]
                await asyncio.gather(*acks)
        except (KafkaError, TimeoutError, OSError) as error:
            raise EmissionUnknownError(str(error) or type(error).__name__) from error

    def _tp(self, partition: Partition) -> TopicPartition:
        return TopicPartition(self._settings.events, partition)


def _dead_headers(partition: Partition, given: Input, refusal: Refusal) -> list[tuple[str, bytes]]:
    fields = {
        "partition": str(partition),
        "position": str(given.position),
        "reason": refusal.reason,
        "path": refusal.path,
        "text": refusal.text,
    }
    if refusal.reason == "conflict" and given.value is not None:
        fields["expected_version"] = str(decode_request(given.value).expected_version)
        fields["actual_version"] = str(refusal.version)
    return [(name, value.encode()) for name, value in fields.items() if value]


def _chunks(records: Sequence[Record]) -> list[list[Record]]:
    chunks: list[list[Record]] = []
    used = 0
    for key, value in records:
        size = len(key) + len(value) + 100
        if not chunks or used + size > _CHUNK_BYTES:
            chunks.append([])
            used = 0
        chunks[-1].append((key, value))
        used += size
    return chunks


def _as_stored(record: Any) -> Stored:
    return Stored(Position(record.offset), record.key or b"", record.value or b"")
