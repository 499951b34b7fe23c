"""A consumer of Kafka is stopped whenever it is told to."""

from __future__ import annotations

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from agentjournal.kafka_consumers import stop_consumer
from agentjournal.kafka_options import client_options
from agentjournal.settings import Settings

pytestmark = pytest.mark.stack


async def test_one_that_was_just_assigned_anew_stops(fresh: Settings) -> None:
    first, second = (TopicPartition(fresh.events, partition) for partition in range(2))
    for turns in range(4):
        consumer = AIOKafkaConsumer(
            **client_options(fresh), auto_offset_reset="none", enable_auto_commit=False
        )
        await consumer.start()
        consumer.assign([first])
        consumer.seek(first, 0)
        assert not await consumer.getmany(timeout_ms=100)  # what it asked for is on its way
        consumer.assign([first, second])
        consumer.seek(first, 0)
        consumer.seek(second, 0)
        for _ in range(turns):
            await asyncio.sleep(0)
        stopping = asyncio.create_task(stop_consumer(consumer))
        # Not by a deadline that cancels: that ends what hangs, and nobody would know.
        assert (await asyncio.wait({stopping}, timeout=20))[0], turns
