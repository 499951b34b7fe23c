"""Requests on their way into the topic `appends`, as the bytes they are."""

from __future__ import annotations

from collections.abc import Iterable

from aiokafka.errors import KafkaError

from agentjournal.errors import Unavailable
from agentjournal.ids import Partition, Position
from agentjournal.kafka_producers import abandon_producer, new_producer
from agentjournal.partitions import partition_of
from agentjournal.settings import Settings

_MOST_BATCH = 1_000_000

Place = tuple[Partition, Position]


async def send_requests(settings: Settings, requests: Iterable[tuple[bytes, bytes]]) -> list[Place]:
    """Append keys and values in this order, each acknowledged before the next; return the places.

    Raises Unavailable: what was sent until then will be decided.
    """
    places: list[Place] = []
    try:
        producer = await new_producer(settings, max_batch_size=_MOST_BATCH)
        try:
            for key, value in requests:
                partition = partition_of(key)
                sent = await producer.send_and_wait(settings.appends, value, key, partition)
                places.append((partition, Position(sent.offset)))
        finally:
            await abandon_producer(producer)
    except KafkaError as error:
        raise Unavailable("Kafka", error) from error
    return places
