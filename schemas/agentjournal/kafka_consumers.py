"""Consumers of Kafka as they begin: connected, and sure that their topic is there."""

from __future__ import annotations

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError

from agentjournal.errors import Unavailable


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


def no_topic(topic: str) -> Unavailable:
    """Return the error that says that a topic is missing, and how it comes to be there."""
    return Unavailable("Kafka", f"topic {topic} does not exist: run `agentjournal init`")
