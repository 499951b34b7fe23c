"""A topic that a test appends to and reads whole, to see that a broker kept it."""

from __future__ import annotations

import asyncio

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError

TOPIC = "kept"


async def append(address: str, value: bytes) -> None:
    await make_topic(address)
    async with AIOKafkaProducer(bootstrap_servers=address) as producer:
        await producer.send_and_wait(TOPIC, value)


async def make_topic(address: str) -> None:
    admin = await connected(address)
    try:
        if TOPIC not in await admin.list_topics():
            await admin.create_topics([NewTopic(TOPIC, 1, 1)])
    finally:
        await admin.close()


async def connected(address: str) -> AIOKafkaAdminClient:
    """Return an admin client, as soon as the broker answers."""
    for _ in range(300):
        admin = AIOKafkaAdminClient(bootstrap_servers=address)
        try:
            await admin.start()
            if (await admin.describe_cluster())["brokers"]:
                return admin
        except KafkaError:
            pass
        await admin.close()
        await asyncio.sleep(0.1)
    raise TimeoutError(f"Kafka at {address} does not answer")


async def everything_in(address: str) -> list[bytes | None]:
    partition = TopicPartition(TOPIC, 0)
    async with AIOKafkaConsumer(bootstrap_servers=address, auto_offset_reset="none") as consumer:
        consumer.assign([partition])
        end = (await consumer.end_offsets([partition]))[partition]
        consumer.seek(partition, 0)
        return [(await consumer.getone()).value for _ in range(end)]
