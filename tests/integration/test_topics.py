"""The topics: made once with what the fold relies on, and refused when they are not ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from agentjournal.errors import IntegrityError, Unavailable
from agentjournal.kafka_options import client_options
from agentjournal.settings import Settings
from consumers.kafka_topics import check_topics, make_topics
from local.stack import Stack

pytestmark = pytest.mark.stack

DAY_MS = 24 * 60 * 60 * 1_000


@pytest.fixture
def empty(stack: Stack) -> Settings:
    """Settings under a prefix that no topic has."""
    return replace(stack.settings, topic_prefix=f"t-{uuid4().hex[:8]}.")


@asynccontextmanager
async def admin(settings: Settings) -> AsyncGenerator[AIOKafkaAdminClient]:
    client = AIOKafkaAdminClient(**client_options(settings))
    await client.start()
    try:
        yield client
    finally:
        await client.close()


async def described(settings: Settings, names: list[str]) -> Mapping[str, int]:
    async with admin(settings) as client:
        topics: list[dict[str, Any]] = await client.describe_topics(names)
    return {topic["topic"]: len(topic["partitions"]) for topic in topics}


async def configured(settings: Settings, name: str) -> Mapping[str, str]:
    """Return a topic's configuration, once the broker knows the topic."""
    resource = ConfigResource(ConfigResourceType.TOPIC, name)
    async with admin(settings) as client, asyncio.timeout(10):
        while True:
            responses: Any = await client.describe_configs([resource])
            entries = [entry for r in responses for item in r.resources for entry in item[4]]
            if entries:
                return {entry[0]: entry[1] for entry in entries}


async def by_hand(settings: Settings, name: str, partitions: int, **config: str) -> None:
    async with admin(settings) as client:
        topic = NewTopic(
            f"{settings.topic_prefix}{name}",
            partitions,
            1,
            topic_configs={key.replace("_", "."): value for key, value in config.items()},
        )
        await client.create_topics([topic])


async def test_missing_topics_are_made_once(empty: Settings) -> None:
    names = [empty.appends, empty.events, empty.dead, empty.alerts, empty.services]
    assert sorted(await make_topics(empty)) == sorted(names)
    assert await make_topics(empty) == []
    assert await described(empty, names) == {
        empty.appends: 8,
        empty.events: 8,
        empty.dead: 1,
        empty.alerts: 1,
        empty.services: 8,
    }
    await check_topics(empty)


async def test_requests_are_kept_for_a_week_by_the_brokers_clock_and_events_for_ever(
    empty: Settings,
) -> None:
    await make_topics(empty)
    appends, events = [await configured(empty, name) for name in (empty.appends, empty.events)]
    assert appends["message.timestamp.type"] == "LogAppendTime"
    assert appends["retention.ms"] == str(7 * DAY_MS)
    assert appends["max.message.bytes"] == str(1024 * 1024)
    assert (events["retention.ms"], events["retention.bytes"]) == ("-1", "-1")
    assert (events["cleanup.policy"], events["max.message.bytes"]) == ("delete", str(2 * 1024**2))
    assert (await configured(empty, empty.dead))["retention.ms"] == "-1"
    assert (await configured(empty, empty.services))["cleanup.policy"] == "compact"


async def test_what_is_there_is_left_alone(empty: Settings) -> None:
    await by_hand(empty, "dead", 1, retention_ms="1000")
    assert empty.dead not in await make_topics(empty)
    assert (await configured(empty, empty.dead))["retention.ms"] == "1000"


async def test_two_who_make_them_at_once_do_not_get_in_each_others_way(empty: Settings) -> None:
    made = await asyncio.gather(*(make_topics(empty) for _ in range(3)))
    assert sorted(name for names in made for name in names) == sorted(
        [empty.appends, empty.events, empty.dead, empty.alerts, empty.services]
    )


@pytest.mark.parametrize("name", ["appends", "events", "services"])
async def test_another_number_of_partitions_is_refused(empty: Settings, name: str) -> None:
    await by_hand(empty, name, 3, message_timestamp_type="LogAppendTime")
    for check in (make_topics, check_topics):
        with pytest.raises(IntegrityError, match=f"{name} has 3 partitions, the rules have 8"):
            await check(empty)


async def test_requests_without_the_brokers_time_are_refused(empty: Settings) -> None:
    await by_hand(empty, "appends", 8)
    with pytest.raises(IntegrityError, match=r"message\.timestamp\.type=LogAppendTime"):
        await make_topics(empty)


async def test_a_broker_that_is_away_is_named(empty: Settings) -> None:
    away = replace(empty, kafka="127.0.0.1:1")
    for check in (make_topics, check_topics):
        with pytest.raises(Unavailable) as error:
            await check(away)
        assert error.value.server == "Kafka"
