"""What services stopped at, in the compacted topic `services`: a record a service and stream.

Keys are JSON: `["billing", "session/t/s"]` for what is parked, and `[…, "redrive"]` for the wish
that it be handled again. The partition is that of the stream in `events`, so that the member which
reads the one reads the other. What was released has an empty value.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection, Iterable
from typing import Any

import orjson
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError

from agentjournal.errors import IntegrityError, Unavailable
from agentjournal.ids import Partition, Position, StreamId, Version
from agentjournal.kafka_consumers import start_consumer, stop_consumer
from agentjournal.kafka_options import client_options
from agentjournal.kafka_producers import abandon_producer, new_producer
from agentjournal.partitions import PARTITIONS
from agentjournal.settings import Settings
from agentjournal.subscriptions import Change, Parked, Standing

_REDRIVE = "redrive"
_MEMBER = "member"  # the header that says who wrote it
_BATCH_BYTES = 1_000_000
_SILENCE_S = 30.0  # without a record that the broker says it has


class KafkaParking:
    """What is parked of one service, or of all."""

    def __init__(self, settings: Settings, service: str | None) -> None:
        self._settings, self._service = settings, service
        self._member = secrets.token_hex(8)
        self._reading = asyncio.Lock()  # what is read on taking partitions is no change
        self._consumer: AIOKafkaConsumer | None = None
        self._producer: AIOKafkaProducer | None = None

    async def follow(self, partitions: Collection[Partition]) -> Standing:
        """Return what is known of these partitions; what others say from here on are changes."""
        async with self._reading:
            values = await self._read_all(partitions)
        asked = {key for key in values if len(key) == 3}
        return Standing(
            {StreamId(key[1]): _parked(key, values[key]) for key in values if len(key) == 2},
            frozenset(StreamId(key[1]) for key in asked),
        )

    async def changes(self) -> list[Change]:
        """Return what others have said meanwhile."""
        if self._consumer is None or self._reading.locked():
            return []
        try:
            async with self._reading:
                polled = await self._consumer.getmany(timeout_ms=0)
        except KafkaError as error:
            raise Unavailable("Kafka", error) from error
        found = (record for records in polled.values() for record in records)
        return [change for record in found for change in self._change(record)]

    def _change(self, record: Any) -> Iterable[Change]:
        key = _key(record)
        if key[0] != self._service or dict(record.headers).get(_MEMBER) == self._member.encode():
            return
        is_asked = len(key) == 3
        if record.value or not is_asked:
            yield Change(Partition(record.partition), StreamId(key[1]), is_asked)

    async def park(self, parked: Parked) -> None:
        """Keep it, in place of what was kept of the stream before."""
        written = parked._asdict()
        await self._write(parked.partition, parked.stream, orjson.dumps(written))

    async def release(self, partition: Partition, stream: StreamId) -> None:
        """Keep nothing of a stream any more, nor that it was asked for."""
        await self._write(partition, stream, None)
        await self.forget_asked(partition, stream)

    async def ask(self, partition: Partition, stream: StreamId) -> None:
        """Ask the service to handle a stream again."""
        await self._write(partition, stream, b"{}", _REDRIVE)

    async def forget_asked(self, partition: Partition, stream: StreamId) -> None:
        """Forget that a stream was asked for."""
        await self._write(partition, stream, None, _REDRIVE)

    async def listed(self) -> list[Parked]:
        """Return all that are parked, of all partitions, in the order of their streams."""
        values = await self._read_all([Partition(each) for each in range(PARTITIONS)])
        return [_parked(key, values[key]) for key in sorted(values) if len(key) == 2]

    async def close(self) -> None:
        """Close the connections."""
        consumer, producer, self._consumer, self._producer = (
            self._consumer,
            self._producer,
            None,
            None,
        )
        if consumer is not None:
            await stop_consumer(consumer)
        if producer is not None:
            await abandon_producer(producer)

    async def _write(
        self, partition: Partition, stream: StreamId, value: bytes | None, *more: str
    ) -> None:
        key = orjson.dumps([self._service, stream, *more])
        try:
            if self._producer is None:
                self._producer = await new_producer(self._settings, max_batch_size=_BATCH_BYTES)
            await self._producer.send_and_wait(
                self._settings.services,
                value,
                key=key,
                partition=partition,
                headers=[(_MEMBER, self._member.encode())],
            )
        except (KafkaError, OSError) as error:
            raise Unavailable("Kafka", error) from error

    async def _read_all(self, partitions: Collection[Partition]) -> dict[tuple[str, ...], bytes]:
        """Return what stands in partitions by key, read from their beginning to their end."""
        tps = [TopicPartition(self._settings.services, partition) for partition in partitions]
        try:
            consumer = await self._started()
            if not tps:
                consumer.unsubscribe()
                return {}
            consumer.assign(tps)
            starts, ends = await consumer.beginning_offsets(tps), await consumer.end_offsets(tps)
            for tp in tps:
                consumer.seek(tp, starts[tp])
            values: dict[tuple[str, ...], bytes] = {}
            while any([await consumer.position(tp) < ends[tp] for tp in tps]):
                polled = await consumer.getmany(timeout_ms=int(_SILENCE_S * 1_000))
                if not polled:
                    silent = f"nothing of {self._settings.services} came for {_SILENCE_S:g} s"
                    raise Unavailable("Kafka", silent)
                for records in polled.values():
                    for record in records:
                        self._take(record, values)
        except (KafkaError, OSError) as error:
            raise Unavailable("Kafka", error) from error
        return values

    def _take(self, record: Any, values: dict[tuple[str, ...], bytes]) -> None:
        key = _key(record)
        if self._service in (None, key[0]):
            values.pop(key, None)
            if record.value:
                values[key] = record.value

    async def _started(self) -> AIOKafkaConsumer:
        if self._consumer is None:
            consumer = AIOKafkaConsumer(
                **client_options(self._settings),
                auto_offset_reset="earliest",
                enable_auto_commit=False,
            )
            await start_consumer(consumer, self._settings.services)
            self._consumer = consumer
        return self._consumer


def _key(record: Any) -> tuple[str, ...]:
    try:
        key = orjson.loads(record.key)
        if isinstance(key, list) and len(key) in (2, 3) and all(type(k) is str for k in key):
            return tuple(key)
    except (orjson.JSONDecodeError, TypeError):
        pass
    raise _not_ours(record.topic, record.partition, record.offset)


def _parked(key: tuple[str, ...], value: bytes) -> Parked:
    try:
        kept = Parked(**orjson.loads(value))
        return kept._replace(
            stream=StreamId(kept.stream),
            version=Version(int(kept.version)),
            partition=Partition(int(kept.partition)),
            position=Position(int(kept.position)),
        )
    except (orjson.JSONDecodeError, TypeError, ValueError) as error:
        raise IntegrityError(f"what is parked under {list(key)} cannot be read: {error}") from error


def _not_ours(topic: str, partition: int, position: int) -> IntegrityError:
    return IntegrityError(
        f"{topic}, partition {partition}, position {position}: not a record of ours"
    )
