"""Reading events as they are recorded, in a Kafka consumer group: at least once, resumable."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from typing import Literal

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError

from agentjournal.envelope import Recorded, parse_record
from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position, parse_stream
from agentjournal.kafka_options import client_options
from agentjournal.settings import Settings


async def subscribe(
    settings: Settings,
    *,
    group: str,
    types: Collection[str] | None,
    tenants: Collection[str] | None,
    start: Literal["earliest", "latest"],
) -> AsyncIterator[Recorded]:
    """Yield events in the order of their streams; commit each when the next is asked for.

    Repeats in the log are dropped. Raises IntegrityError when a stream forks or its hash chain is
    broken.
    """
    consumer = AIOKafkaConsumer(
        settings.events,
        **client_options(settings),
        group_id=group,
        enable_auto_commit=False,
        auto_offset_reset=start,
        fetch_min_bytes=1,
    )
    order: dict[int, tuple[int, int]] = {}
    chain: dict[str, tuple[int, str]] = {}
    await consumer.start()
    try:
        async for record in consumer:
            partition = Partition(record.partition)
            recorded = parse_record(record.value or b"", partition, Position(record.offset))
            if recorded.order > order.get(partition, (-1, -1)):
                order[partition] = recorded.order
                _check(recorded, chain)
                if _wanted(recorded, types, tenants):
                    yield recorded
            await _commit(consumer, TopicPartition(record.topic, partition), record.offset + 1)
    finally:
        await consumer.stop()


async def _commit(consumer: AIOKafkaConsumer, tp: TopicPartition, position: int) -> None:
    try:
        await consumer.commit({tp: position})
    except (CommitFailedError, IllegalStateError):
        pass  # the partition went to another member of the group: it reads this event again


def _check(recorded: Recorded, chain: dict[str, tuple[int, str]]) -> None:
    before = chain.get(recorded.stream)
    if before is not None:
        version, digest = before
        if recorded.version != version + 1 or recorded.prevhash != digest:
            raise IntegrityError(
                f"{recorded.stream} version {recorded.version} does not follow version {version}"
            )
    chain[recorded.stream] = (recorded.version, recorded.hash)


def _wanted(
    recorded: Recorded, types: Collection[str] | None, tenants: Collection[str] | None
) -> bool:
    if types is not None and recorded.type not in types:
        return False
    return tenants is None or parse_stream(recorded.stream)[1] in tenants
