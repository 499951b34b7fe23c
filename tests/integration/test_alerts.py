"""The topic of alerts on a real broker: repeats, a place to begin at, and what is no alert."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

import pytest

from agentjournal.alerts import Alert, NoAlert, raised
from agentjournal.errors import Unavailable
from agentjournal.kafka_alerts import AlertReader, AlertWriter
from agentjournal.kafka_producers import abandon_producer, new_producer
from agentjournal.settings import Settings
from consumers.kafka_topics import make_topics
from local.stack import Stack

pytestmark = pytest.mark.stack


@pytest.fixture
async def alerts(stack: Stack) -> Settings:
    """Settings with topics of the test's own, and nobody at work."""
    settings = replace(stack.settings, topic_prefix=f"alerts-{uuid4().hex[:8]}.")
    await make_topics(settings)
    return settings


def alert(subject: str, at: str = "2026-01-31T12:00:00.000Z") -> Alert:
    return raised("stuck_call", tenant="acme", subject=subject, text="open", at=at, source="meter")


async def read(
    settings: Settings, *, last: int | None = None, since: str | None = None
) -> list[Alert | NoAlert]:
    moment = None if since is None else datetime.fromisoformat(since)
    async with AlertReader(settings) as reader:
        return [each async for each in reader.kept(last=last, since=moment)]


async def test_alerts_are_read_in_order_and_each_once(alerts: Settings) -> None:
    assert await read(alerts) == []
    first, second, third = alert("a"), alert("b"), alert("c")
    async with AlertWriter(alerts) as writer:
        await writer.write([])
        await writer.write([first, second])
        await writer.write([replace(first, text="seen by another role"), third])
    assert await read(alerts) == [first, second, third]
    assert await read(alerts, last=1) == [third]
    assert await read(alerts, last=0) == []


async def test_since_is_about_when_it_was_seen(alerts: Settings) -> None:
    early, late = alert("a", "2026-01-31T11:59:59.999Z"), alert("b", "2026-01-31T12:00:00.000Z")
    async with AlertWriter(alerts) as writer:
        await writer.write([late, early])
    assert await read(alerts, since="2026-01-31T12:00:00Z") == [late]
    assert await read(alerts, since="2999-01-01T00:00:00Z") == []


async def test_following_goes_on_with_what_is_written(alerts: Settings) -> None:
    async with AlertWriter(alerts) as writer:
        await writer.write([alert("a"), alert("b")])
        async with AlertReader(alerts) as reader, asyncio.timeout(20):
            assert [each async for each in reader.kept(last=1)] == [alert("b")]
            await writer.write([alert("b"), alert("c")])
            written = reader.written()
            assert await anext(written) == alert("c")
            await written.aclose()


async def test_what_is_no_alert_is_named_by_its_place(alerts: Settings) -> None:
    producer = await new_producer(alerts, max_batch_size=10_000)
    await producer.send_and_wait(alerts.alerts, b"{")
    await abandon_producer(producer)
    async with AlertWriter(alerts) as writer:
        await writer.write([alert("a")])
    broken, found = await read(alerts)
    assert isinstance(broken, NoAlert)
    assert (broken.partition, broken.position) == (0, 0)
    assert broken.reason.startswith("it is not JSON: ")
    assert found == alert("a")


async def test_a_topic_that_is_missing_is_said(alerts: Settings) -> None:
    missing = replace(alerts, topic_prefix=f"{alerts.topic_prefix}other.")
    message = rf"topic {missing.alerts} does not exist: run `agentjournal init`"
    with pytest.raises(Unavailable, match=message):
        await read(missing)
    async with AlertWriter(missing) as writer:
        with pytest.raises(Unavailable, match=message):
            await writer.write([alert("a")])


async def test_a_broker_that_is_away_is_said(alerts: Settings) -> None:
    away = replace(alerts, kafka="127.0.0.1:1")
    with pytest.raises(Unavailable):
        await read(away)
    async with AlertWriter(away) as writer:
        with pytest.raises(Unavailable):
            await writer.write([alert("a")])
