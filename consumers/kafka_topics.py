"""The topics: made with the settings that the fold relies on, checked where they exist."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code

from agentjournal.errors import IntegrityError, Unavailable
from agentjournal.kafka_options import client_options
from agentjournal.partitions import PARTITIONS
from agentjournal.settings import Settings

_DAY_MS = 24 * 3_600 * 1_000
_MIB = 1024 * 1024
_REPLICAS = 3
_APPEARS_WITHIN_S = 5.0


def _wanted(settings: Settings) -> dict[str, tuple[int, dict[str, str]]]:
    """Return partitions and configuration of each topic by name."""
    by_broker_time = {"message.timestamp.type": "LogAppendTime"}
    return {
        settings.appends: (
            PARTITIONS,
            {"retention.ms": str(7 * _DAY_MS), "max.message.bytes": str(_MIB), **by_broker_time},
        ),
        settings.events: (
            PARTITIONS,
            {"retention.ms": "-1", "retention.bytes": "-1", "max.message.bytes": str(2 * _MIB)},
        ),
        settings.dead: (1, {"retention.ms": "-1", "max.message.bytes": str(2 * _MIB)}),
        settings.alerts: (1, {"retention.ms": str(7 * _DAY_MS)}),
        settings.services: (PARTITIONS, {"cleanup.policy": "compact"}),
    }


async def make_topics(settings: Settings) -> list[str]:
    """Make the topics that are missing; return their names.

    Raises IntegrityError when one exists with another number of partitions or without the broker's
    time, Unavailable when no broker answers. Three replicas where there are three brokers.
    """
    async with _admin(settings) as admin:
        brokers = len((await admin.describe_cluster())["brokers"])
        replicas = min(brokers, _REPLICAS)
        made = [
            name
            for name, (partitions, config) in _wanted(settings).items()
            if await _make(admin, NewTopic(name, partitions, replicas, topic_configs=config))
        ]
        await _check(admin, settings)
        return made


async def check_topics(settings: Settings) -> None:
    """Check that the logs are the ones that the rules speak of.

    Raises Unavailable when no broker answers or a topic is missing, IntegrityError when one has
    another number of partitions or not the broker's time.
    """
    async with _admin(settings) as admin:
        await _check(admin, settings)


@asynccontextmanager
async def _admin(settings: Settings) -> AsyncGenerator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(**client_options(settings))
    try:
        await admin.start()
    except (KafkaError, OSError) as error:
        await admin.close()
        raise Unavailable("Kafka", error) from error
    try:
        yield admin
    finally:
        await admin.close()


async def _make(admin: AIOKafkaAdminClient, topic: NewTopic) -> bool:
    response: Any = await admin.create_topics([topic])
    for name, code, *_ in response.topic_errors:
        if code:
            error = for_code(code)
            if error is TopicAlreadyExistsError:
                return False
            raise IntegrityError(f"topic {name} cannot be made: {error.__name__}")
    return True


async def _check(admin: AIOKafkaAdminClient, settings: Settings) -> None:
    for name in _wanted(settings):
        count = await _partitions_of(admin, name)
        if name in (settings.appends, settings.events, settings.services) and count != PARTITIONS:
            raise IntegrityError(
                f"topic {name} has {count} partitions, the rules have {PARTITIONS}: "
                "the number never changes; make the topics anew under another prefix"
            )
    resource = ConfigResource(ConfigResourceType.TOPIC, settings.appends)
    responses: Any = await admin.describe_configs([resource])
    values = {entry[0]: entry[1] for r in responses for item in r.resources for entry in item[4]}
    if values.get("message.timestamp.type") != "LogAppendTime":
        raise IntegrityError(
            f"topic {settings.appends} must have message.timestamp.type=LogAppendTime: "
            "what depends on time is decided by the broker's clock"
        )


async def _partitions_of(admin: AIOKafkaAdminClient, name: str) -> int:
    """Return how many partitions a topic has; one that was made just now may take a moment."""
    deadline = asyncio.get_running_loop().time() + _APPEARS_WITHIN_S
    while True:
        described: list[dict[str, Any]] = await admin.describe_topics([name])
        if count := len(described[0]["partitions"]):
            return count
        if asyncio.get_running_loop().time() > deadline:
            missing = f"topic {name} does not exist: run `agentjournal init`"
            raise Unavailable("Kafka", missing)
        await asyncio.sleep(0.05)
