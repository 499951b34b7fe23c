"""What the benchmarks write: messages of about 600 bytes, over many sessions."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Sequence
from typing import Self

from aiokafka import AIOKafkaConsumer, TopicPartition

import agentjournal
from agentjournal.events import Event
from agentjournal.ids import Partition, StreamId, stream_id
from agentjournal.kafka_options import client_options
from agentjournal.kafka_producers import abandon_producer, new_producer
from agentjournal.outgoing import outgoing
from agentjournal.partitions import PARTITIONS, partition_of
from agentjournal.requests import NewEvent, Request
from agentjournal.settings import Settings

SESSIONS = 200
_WORDS_A_TEXT = 72
_CHANCES = random.Random(4711)
# Random words compress about as well as prose; a repeated sentence would compress to nothing.
_WORDS = [
    "".join(_CHANCES.choices("etaoinshrdlucmfwyp", k=length))
    for length in range(2, 10)
    for _ in range(60)
]
_BATCH_BYTES = 900_000

Record = tuple[bytes, bytes]


def message() -> agentjournal.MessageAdded:
    """Return a message whose data has about 600 bytes."""
    return agentjournal.MessageAdded(role="user", content=words(_WORDS_A_TEXT))


def words(count: int) -> str:
    """Return a text of `count` words."""
    return " ".join(_CHANCES.choices(_WORDS, k=count))


def requests(count: int, events: int) -> dict[Partition, list[Record]]:
    """Return `count` requests of `events` events each, by partition, as key and value."""
    streams = [stream_id("session", "default", f"bench-{n}") for n in range(SESSIONS)]
    made: dict[Partition, list[Record]] = {Partition(p): [] for p in range(PARTITIONS)}
    for number in range(count):
        stream = streams[number % SESSIONS]
        made[partition_of(stream.encode())] += batches_of(stream, 1, events)
    return made


def batches_of(stream: StreamId, count: int, events: int) -> list[Record]:
    """Return `count` requests of `events` events each for one stream."""
    return [batch_of(stream, [message() for _ in range(events)]) for _ in range(count)]


def batch_of(stream: StreamId, events: Sequence[Event]) -> Record:
    """Return the request that appends these events to a stream."""
    return request_of(stream, outgoing("session", events, None))


def request_of(stream: StreamId, events: Sequence[NewEvent]) -> Record:
    """Return the request that appends what was made ready for it."""
    request = Request(
        append_id=secrets.token_hex(16),
        events=events,
        source="/default/bench",
        attempt=1,
        reply_to="bench.receipts",
        agent="bench",
    )
    return stream.encode(), request.encoded()


async def fill(settings: Settings, topic: str, records: dict[Partition, list[Record]]) -> None:
    """Write records into a topic, each into its partition."""
    producer = await new_producer(settings, max_batch_size=1_000_000)
    try:
        for partition, waiting in records.items():
            left = list(reversed(waiting))
            while left:
                batch, used = producer.create_batch(), 0
                while left and used < _BATCH_BYTES:
                    key, value = left.pop()
                    batch.append(key=key, value=value, timestamp=None)
                    used += len(value)
                batch.close()
                await (await producer.send_batch(batch, topic, partition=partition))
    finally:
        await abandon_producer(producer)


class Counter:
    """Counts the records of a topic on one connection."""

    def __init__(self, settings: Settings, topic: str) -> None:
        self._consumer = AIOKafkaConsumer(**client_options(settings))
        self._tps = [TopicPartition(topic, p) for p in range(PARTITIONS)]

    async def __aenter__(self) -> Self:
        await self._consumer.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._consumer.stop()

    async def count(self) -> int:
        """Return the number of records now."""
        return sum((await self._consumer.end_offsets(self._tps)).values())

    async def reached(
        self, wanted: int, *, by: asyncio.Task[None] | None = None, pause_s: float = 0.02
    ) -> None:
        """Return once the topic holds at least `wanted` records.

        Raises what the task `by`, which is to write them, fails with.
        """
        while await self.count() < wanted:
            if by is not None and by.done():
                by.result()
                raise RuntimeError("it ended before it had written everything")
            await asyncio.sleep(pause_s)


def flatten(records: dict[Partition, list[Record]]) -> Sequence[tuple[Partition, Record]]:
    """Return all records with their partitions."""
    return [(p, record) for p, batch in records.items() for record in batch]
