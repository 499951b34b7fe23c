"""Subscriptions where Kafka shows: repeats, forks, committed places, and outages."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from agentjournal import IntegrityError, Unavailable
from agentjournal.ids import Partition
from agentjournal.kafka_member import group_places
from agentjournal.kafka_options import client_options
from agentjournal.partitions import PARTITIONS
from agentjournal.settings import Settings
from consumers.kafka_events import KafkaEvents
from local.stack import Stack
from tests.servers import connected, roles, sequencer
from tests.subscriber import group, left, taken, texts
from tests.support import Stream, message, request, said, session_in

pytestmark = pytest.mark.stack


async def test_repeats_in_the_log_come_once_and_a_fork_stops_the_subscriber(
    fresh: Settings,
) -> None:
    stream, twin = Stream(session_in(3)), Stream(session_in(3))
    stream.accept(request(said("a")))
    stream.accept(request(said("b")))
    twin.accept(request(said("a")))
    twin.position = 7
    twin.accept(request(said("c")))
    one, two, fork = ((stream.stream.encode(), r) for r in (*stream.records, twin.records[1]))
    async with KafkaEvents(fresh) as events, connected(fresh) as log:
        await events.write({Partition(3): [one, two, one, two]})
        reading = log.subscribe(group=group())
        assert texts(await taken(reading, 2)) == ["a", "b"]
        await events.write({Partition(3): [fork]})
        with pytest.raises(IntegrityError):
            await taken(reading, 1)


async def test_the_committed_place_is_the_next_to_handle(fresh: Settings) -> None:
    name = group()
    async with roles(fresh, sequencer), connected(fresh) as log:
        receipt = await log.session("s").append([message("a"), message("b")])
        events = log.subscribe(group=name, tenants=[log.settings.tenant])
        found = await taken(events, 3)
        await left(events)
    consumer = AIOKafkaConsumer(**client_options(fresh), group_id=name, enable_auto_commit=False)
    await consumer.start()
    try:
        place = await consumer.committed(TopicPartition(fresh.events, receipt.partition))
    finally:
        await consumer.stop()
    assert place == found[-1].position


@pytest.mark.parametrize("prefix", [None, "nothing."])
async def test_without_a_broker_or_a_topic_it_says_so(stack: Stack, prefix: str | None) -> None:
    there = stack.settings
    away = replace(there, topic_prefix=prefix) if prefix else replace(there, kafka="127.0.0.1:1")
    async with connected(away) as log:
        with pytest.raises(Unavailable):
            await taken(log.subscribe(group=group()), 1)


async def test_a_new_group_has_its_place_before_its_first_event_is_handled(fresh: Settings) -> None:
    name = group()
    async with roles(fresh, sequencer), connected(fresh) as log:
        await log.session("s").append(message("old"))
        events = log.subscribe(group=name, start="latest", types=["message.added"])
        first = asyncio.create_task(taken(events, 1))
        await eventually_kept(fresh, name)
        await log.session("s").append(message("new"))
        assert texts(await first) == ["new"]
        await left(events)  # as if it had died: the event is not handled
        again = log.subscribe(group=name, start="latest", types=["message.added"])
        assert texts(await taken(again, 1)) == ["new"]
        await left(again)


async def eventually_kept(settings: Settings, name: str) -> None:
    """Return once a group has a place in every partition."""
    async with asyncio.timeout(20):
        while len(await group_places(settings, name)) < PARTITIONS:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.05)
