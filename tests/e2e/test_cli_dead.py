"""`agentjournal dead`: what was refused is listed as it came, once."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer

from agentjournal.ids import StreamId
from agentjournal.partitions import partition_of
from agentjournal.settings import Settings
from commands.kafka_topic import KafkaTopic
from local.stack import Stack
from tests.e2e.console import Console
from tests.servers import fresh_settings, roles_in_a_process
from tests.waiting import awaited

pytestmark = pytest.mark.stack

STREAM = StreamId("session/default/s-1")
OTHER = StreamId("session/default/s-2")


@pytest.fixture(scope="module")
def refusing(stack: Stack) -> Iterator[Console]:
    """A log whose sequencer has refused nothing yet."""
    settings = asyncio.run(fresh_settings(stack.settings))
    with roles_in_a_process(settings, "sequencer"):
        yield Console(settings)


async def ask(settings: Settings, stream: str, value: bytes) -> int:
    """Write bytes straight to the topic of requests; return their position."""
    async with AIOKafkaProducer(bootstrap_servers=settings.kafka) as producer:
        sent = await producer.send_and_wait(
            settings.appends,
            value,
            key=stream.encode(),
            partition=partition_of(stream.encode()),
        )
    return int(sent.offset)


def dead(console: Console, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(console.output("dead", "--json", *arguments))
    return found


def test_without_refusals_there_is_nothing_dead(refusing: Console) -> None:
    assert dead(refusing) == []
    assert refusing.output("dead").split()[:3] == ["time", "stream", "reason"]


def test_a_request_of_invalid_bytes_is_listed_as_it_came(refusing: Console) -> None:
    value = b"\xff\x00 not a request \x1b[2J"
    position = asyncio.run(ask(refusing.settings, STREAM, value))
    awaited(lambda: dead(refusing))
    (letter,) = dead(refusing)
    assert (letter["stream"], letter["reason"], letter["position"]) == (
        STREAM,
        "rejected",
        position,
    )
    assert letter["partition"] == partition_of(STREAM.encode())
    assert base64.b64decode(letter["request"]) == value
    names, line = refusing.output("dead").splitlines()
    assert names.split()[:3] == ["time", "stream", "reason"]
    assert line.split()[2:4] == [STREAM, "rejected"]
    assert letter["text"] in line


async def test_a_letter_that_was_written_twice_is_listed_once(refusing: Console) -> None:
    settings = refusing.settings
    position = await ask(settings, OTHER, b"junk")
    before = awaited(lambda: [each for each in dead(refusing) if each["stream"] == OTHER])
    async with KafkaTopic(settings, settings.dead) as topic:
        letters = [letter async for letter in topic.read(await topic.bounds())]
    async with AIOKafkaProducer(bootstrap_servers=settings.kafka) as producer:
        for letter in letters:
            await producer.send_and_wait(
                settings.dead,
                letter.value,
                key=letter.key,
                headers=list(letter.headers.items()),
            )
    found = dead(refusing)
    assert [each for each in found if each["stream"] == OTHER] == before
    assert len({(each["partition"], each["position"]) for each in found}) == len(found)
    (latest,) = dead(refusing, "--limit", "1")
    assert (latest["stream"], latest["position"]) == (OTHER, position)
