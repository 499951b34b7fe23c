"""Metrics under load are what SQL and the log say."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

import agentjournal as aj
from agentjournal.kafka_options import client_options
from agentjournal.partitions import PARTITIONS
from agentjournal.settings import Settings
from tests.servers import connected, query
from tests.watched import WatchedProcess, watched

pytestmark = pytest.mark.stack

WRITERS, EACH = 5, 20
SAID = aj.MessageAdded(role="user", content="hi")
READERS = ("cache", "events", "conversation", "plan", "memory", "execution", "environment")


async def write(log: aj.Log, number: int) -> None:
    """Append to a session of its own, with a lease, a conflict and a repeat."""
    session = log.session(f"s-{number}")
    async with session.resume():
        for at in range(EACH):
            await session.append(SAID, append_id=f"a-{at}")
    again = await session.append(SAID, append_id="a-0")
    assert again.duplicate
    with pytest.raises(aj.VersionConflict):
        await session.append(SAID, expected_version=1)


async def records(settings: Settings, topic: str, partitions: int) -> int:
    """Return how many records a topic holds."""
    consumer = AIOKafkaConsumer(**client_options(settings))
    await consumer.start()
    try:
        ends = await consumer.end_offsets([TopicPartition(topic, p) for p in range(partitions)])
    finally:
        await consumer.stop()
    return sum(ends.values())


async def settled(process: WatchedProcess, events: int) -> Mapping[tuple[str, ...], float]:
    """Return the metrics once all events are stored, and the gauges were set since."""
    async with asyncio.timeout(30):
        while True:
            found = await process.metrics()
            done = {
                found.get(("agentjournal_events_stored_total", r)) for r in ("projector", "cache")
            }
            behind = {found.get(("agentjournal_lag_records", r)) for r in ("sequencer", *READERS)}
            if done == {events} and behind == {0}:
                return found
            await asyncio.sleep(0.1)


async def test_counters_are_what_sql_and_the_log_say(fresh: Settings, tmp_path: Path) -> None:
    roles = ("sequencer", "projector", "cache")
    async with watched(fresh, tmp_path, roles) as process, connected(fresh) as log:
        await process.is_ready()
        await asyncio.gather(*(write(log, number) for number in range(WRITERS)))
        events = await records(fresh, fresh.events, PARTITIONS)
        found = await settled(process, events)
        requests = await records(fresh, fresh.appends, PARTITIONS)
        letters = await records(fresh, fresh.dead, 1)
        leases = "SELECT count(*) AS n FROM agentjournal.events WHERE type = 'lease.acquired'"
        appends = "count(DISTINCT (partition, input_position)) AS appends"
        stored = f"SELECT count(*) AS n, {appends} FROM agentjournal.events"
        [row] = await query(fresh, stored)
        [taken] = await query(fresh, leases)
    decided = {name[1]: n for name, n in found.items() if name[0] == "agentjournal_decisions_total"}
    assert row["n"] == events == found["agentjournal_events_written_total",]
    assert decided["accepted"] == row["appends"]
    assert decided["duplicate"] == decided["conflict"] == WRITERS
    assert sum(decided.values()) == requests
    assert found["agentjournal_append_latency_seconds_count",] == requests
    assert found["agentjournal_batch_records_sum", "sequencer"] == requests
    assert found["agentjournal_batch_records_sum", "projector"] == events
    assert found["agentjournal_dead_letters_total", "conflict"] == letters == WRITERS
    assert found["agentjournal_leases_taken_total",] == taken["n"] == WRITERS
    assert found["agentjournal_leases_live",] == 0, "all were released"
    assert found["agentjournal_heads",] == WRITERS
    assert found["agentjournal_streams_parked", "conversation"] == 0
