"""How fast the meter reads a full log: through Faust, and the same counters beside a consumer.

Both are one process; Faust fetches in a thread of its own. What is counted begins with the first
event, so neither joining the group nor the first fetch is in it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from aiokafka import AIOKafkaConsumer, TopicPartition

from agentjournal.envelope import Recorded, parse_record
from agentjournal.ids import Partition, Position
from agentjournal.kafka_options import client_options
from agentjournal.partitions import PARTITIONS
from agentjournal.settings import Settings
from benchmarks.load import fill
from benchmarks.projecting import sequence
from benchmarks.turns import turn_requests
from streams.faust_meter import FaustMeter, group_of
from streams.meter import Meter

SESSIONS, EVENTS_A_SESSION = 50, 400
EVENTS = SESSIONS * EVENTS_A_SESSION

Figures = Mapping[str, tuple[float, str]]


async def meter(settings: Settings) -> Figures:
    """Meter sessions as agents have them, from the first event to the last."""
    await fill(settings, settings.appends, turn_requests(SESSIONS, EVENTS_A_SESSION))
    await sequence(settings, EVENTS)
    await _commit_the_beginning(settings)
    return {
        "meter": (await _through_faust(settings), "events/s"),
        "meter.raw": (await _through_a_consumer(settings), "events/s"),
    }


class _TimedMeter(Meter):
    """Knows when it took its first event and its last."""

    def __init__(self) -> None:
        super().__init__()
        self.taken, self.first, self.last = 0, 0.0, asyncio.Event()

    def take(self, recorded: Recorded) -> None:
        super().take(recorded)
        self.first = self.first or time.perf_counter()
        self.taken += 1
        if self.taken == EVENTS:
            self.last.set()

    async def rate(self) -> float:
        await self.last.wait()
        return EVENTS / (time.perf_counter() - self.first)


async def _through_faust(settings: Settings) -> float:
    timed = _TimedMeter()
    reader = FaustMeter(settings, timed)
    await reader.start()
    try:
        return await timed.rate()
    finally:
        await reader.stop()


async def _through_a_consumer(settings: Settings) -> float:
    timed = _TimedMeter()
    consumer = AIOKafkaConsumer(
        **client_options(settings), enable_auto_commit=False, max_partition_fetch_bytes=2_200_000
    )
    await consumer.start()
    try:
        consumer.assign(_partitions(settings))
        for tp in _partitions(settings):
            consumer.seek(tp, 0)
        while not timed.last.is_set():
            for tp, records in (await consumer.getmany(timeout_ms=500, max_records=2_000)).items():
                for each in records:
                    at = Partition(tp.partition), Position(each.offset)
                    timed.take(parse_record(each.value or b"", *at))
        return await timed.rate()
    finally:
        await consumer.stop()


async def _commit_the_beginning(settings: Settings) -> None:
    """Let the group go on from the first event: a new one begins at the end."""
    consumer = AIOKafkaConsumer(
        **client_options(settings), group_id=group_of(settings), enable_auto_commit=False
    )
    await consumer.start()
    try:
        consumer.assign(_partitions(settings))
        await consumer.commit(dict.fromkeys(_partitions(settings), 0))
    finally:
        await consumer.stop()


def _partitions(settings: Settings) -> Sequence[TopicPartition]:
    return [TopicPartition(settings.events, partition) for partition in range(PARTITIONS)]
