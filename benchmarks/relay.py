"""The raw yardstick: read records and send the same bytes on, nothing decided, nothing kept."""

from __future__ import annotations

import asyncio
import time

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from agentjournal.kafka_options import client_options
from agentjournal.kafka_producers import abandon_producer, new_producer
from agentjournal.partitions import PARTITIONS
from agentjournal.settings import Settings


async def make_topic(settings: Settings, name: str) -> None:
    """Make a topic like the log's, under a name of its own."""
    admin = AIOKafkaAdminClient(**client_options(settings))
    await admin.start()
    try:
        config = {"max.message.bytes": str(2 * 1024 * 1024)}
        await admin.create_topics([NewTopic(name, PARTITIONS, 1, topic_configs=config)])
    finally:
        await admin.close()


async def relay(settings: Settings, source: str, target: str, stop: asyncio.Event) -> None:
    """Copy records partition by partition, one batch a partition in flight, until `stop`."""
    consumer = AIOKafkaConsumer(
        **client_options(settings),
        auto_offset_reset="none",
        enable_auto_commit=False,
        max_partition_fetch_bytes=1_100_000,
        fetch_min_bytes=1,
    )
    await consumer.start()
    producer = await new_producer(settings, max_batch_size=2_000_000)
    tps = [TopicPartition(source, p) for p in range(PARTITIONS)]
    consumer.assign(tps)
    for tp in tps:
        consumer.seek(tp, 0)
    try:
        await _copy(consumer, producer, target, stop)
    finally:
        await consumer.stop()
        await abandon_producer(producer)


async def _copy(consumer, producer, target: str, stop: asyncio.Event) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    while not stop.is_set():
        polled = await consumer.getmany(timeout_ms=100, max_records=4_000)
        acks = []
        for tp, records in polled.items():
            batch = producer.create_batch()
            for record in records:
                if batch.append(key=record.key, value=record.value, timestamp=None) is None:
                    batch.close()
                    await (await producer.send_batch(batch, target, partition=tp.partition))
                    batch = producer.create_batch()
                    batch.append(key=record.key, value=record.value, timestamp=None)
            batch.close()
            acks.append(await producer.send_batch(batch, target, partition=tp.partition))
        if acks:
            await asyncio.gather(*acks)


async def relay_seconds(settings: Settings, source: str, count: int) -> float:
    """Return how long relaying all `count` records of a topic takes."""
    from benchmarks.load import Counter  # noqa: PLC0415 - load knows nothing of relays

    target = f"{settings.topic_prefix}relayed"
    await make_topic(settings, target)
    stop = asyncio.Event()
    async with Counter(settings, target) as counter:
        began = time.perf_counter()
        task = asyncio.create_task(relay(settings, source, target, stop))
        await counter.reached(count, by=task)
        took = time.perf_counter() - began
    stop.set()
    await task
    return took
