"""Consumers of Kafka as they begin, connected and sure of their topic, and as they end."""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError

from agentjournal.errors import Unavailable

_AGAIN_S = 0.1


async def start_consumer(consumer: AIOKafkaConsumer, topic: str) -> None:
    """Connect a consumer; one that fails is stopped. Raises Unavailable, also without the topic."""
    try:
        await consumer.start()
        # Asked about by name, a topic that is missing would be waited for without a word.
        if topic not in await consumer.topics():
            raise no_topic(topic)  # noqa: TRY301 - stopped below
    except BaseException as error:
        await consumer.stop()
        if isinstance(error, KafkaError | OSError):
            raise Unavailable("Kafka", error) from error
        raise


async def stop_consumer(consumer: AIOKafkaConsumer) -> None:
    """Stop a consumer, also one that was assigned anew just now.

    While its fetcher ends the fetches of before, it takes its own end for one of theirs, and would
    go on for ever: it is told again.
    """
    internals: Any = consumer
    stopping = asyncio.create_task(consumer.stop())
    try:
        while not (await asyncio.wait({stopping}, timeout=_AGAIN_S))[0]:
            fetcher = internals._fetcher  # noqa: SLF001 - there is no public way to tell it
            if fetcher is not None and fetcher._closed:  # noqa: SLF001
                fetcher._fetch_task.cancel()  # noqa: SLF001
        await stopping
    finally:
        stopping.cancel()


def no_topic(topic: str) -> Unavailable:
    """Return the error that says that a topic is missing, and how it comes to be there."""
    return Unavailable("Kafka", f"topic {topic} does not exist: run `agentjournal init`")
