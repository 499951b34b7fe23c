"""How fast appends are sequenced from the client's view, and how long one takes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from aiokafka import AIOKafkaConsumer, TopicPartition

from agentjournal.events import Event
from agentjournal.kafka_options import client_options
from agentjournal.kafka_producers import abandon_producer, new_producer
from agentjournal.log import Log
from agentjournal.partitions import PARTITIONS, partition_of
from agentjournal.session import Session
from agentjournal.settings import Settings
from benchmarks.harness import percentile, role_process
from benchmarks.load import flatten, message, requests
from benchmarks.relay import make_topic

SINGLES, BATCHES, EVENTS_A_BATCH = 10_000, 1_000, 20
HANDLES = 64
LATENCIES = 1_000
WARM_UP = 200

Figures = Mapping[str, tuple[float, str]]


async def batch1(settings: Settings) -> Figures:
    """1 event an append, many sessions at once; beside a plain `send` of as many such records."""
    return await _appended(settings, "append.sequenced.batch1", SINGLES, 1)


async def batch20(settings: Settings) -> Figures:
    """20 events an append, many sessions at once; beside a plain `send` of the same bytes."""
    return await _appended(settings, "append.sequenced.batch20", BATCHES, EVENTS_A_BATCH)


async def _appended(settings: Settings, name: str, count: int, events: int) -> Figures:
    async with role_process(settings, "sequencer"), Log(settings) as log:
        handles = [log.session(f"bench-{n}", agent="bench") for n in range(HANDLES)]
        for handle in handles:  # every session exists, every connection is open
            await handle.append(message())
        batches = [[message() for _ in range(events)] for _ in range(count)]
        began = time.perf_counter()
        await asyncio.gather(
            *(_append_all(handle, batches[n::HANDLES]) for n, handle in enumerate(handles))
        )
        took = time.perf_counter() - began
    yardstick = await _sent_s(settings, count, events)
    total = count * events
    return {name: (total / took, "events/s"), f"{name}.raw": (total / yardstick, "events/s")}


async def _append_all(handle: Session, batches: Sequence[Sequence[Event]]) -> None:
    for batch in batches:
        await handle.append(batch)


async def _sent_s(settings: Settings, count: int, events: int) -> float:
    topic = f"{settings.topic_prefix}sent"
    await make_topic(settings, topic)
    records = flatten(requests(count, events))
    producer = await new_producer(settings, max_batch_size=900_000)
    try:
        began = time.perf_counter()
        acks = [
            await producer.send(topic, key=key, value=value, partition=partition)
            for partition, (key, value) in records
        ]
        await asyncio.gather(*acks)
        return time.perf_counter() - began
    finally:
        await abandon_producer(producer)


async def latency(settings: Settings) -> Figures:
    """One append at a time, call to receipt; beside a record through a raw relay and back."""
    async with role_process(settings, "sequencer"), Log(settings) as log:
        handle = log.session("bench-latency", agent="bench")
        ours = [await _timed(handle) for _ in range(LATENCIES + WARM_UP)][WARM_UP:]
    raw = (await relayed(settings))[WARM_UP:]
    return {
        "append.latency.p50": (percentile(ours, 50), "ms"),
        "append.latency.p50.raw": (percentile(raw, 50), "ms"),
        "append.latency.p99": (percentile(ours, 99), "ms"),
        "append.latency.p99.raw": (percentile(raw, 99), "ms"),
    }


async def _timed(handle: Session) -> float:
    event = message()
    began = time.perf_counter()
    await handle.append(event)
    return (time.perf_counter() - began) * 1_000


# The yardstick relays in a process of its own, as the sequencer does.
_RELAY = """
import asyncio, sys
from agentjournal.settings import find_settings
from benchmarks.relay import relay
asyncio.run(relay(find_settings(), sys.argv[1], sys.argv[2], asyncio.Event()))
"""


async def relayed(settings: Settings) -> list[float]:
    """Return the milliseconds that records take, one after the other, through a raw relay."""
    source, target = f"{settings.topic_prefix}in", f"{settings.topic_prefix}out"
    await make_topic(settings, source)
    await make_topic(settings, target)
    consumer = AIOKafkaConsumer(**client_options(settings), auto_offset_reset="none")
    await consumer.start()
    producer = await new_producer(settings, max_batch_size=900_000)
    (key, value) = flatten(requests(1, 1))[0][1]
    tp = TopicPartition(target, partition_of(key, PARTITIONS))
    consumer.assign([tp])
    consumer.seek(tp, 0)
    times: list[float] = []
    try:
        async with role_process(settings, arguments=("-c", _RELAY, source, target)):
            for _ in range(LATENCIES + WARM_UP):
                began = time.perf_counter()
                await producer.send(source, key=key, value=value, partition=tp.partition)
                await consumer.getone(tp)
                times.append((time.perf_counter() - began) * 1_000)
    finally:
        await consumer.stop()
        await abandon_producer(producer)
    return times
