"""Reading events as they are recorded, in a Kafka consumer group: at least once, resumable."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from typing import Any, Literal

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError

from agentjournal.envelope import Recorded, parse_record
from agentjournal.errors import IntegrityError, Unavailable
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
) -> AsyncGenerator[Recorded]:
    """Yield events in the order of their streams; commit each when the next is asked for.

    Repeats in the log are dropped. Raises IntegrityError when a stream forks or its hash chain is
    broken, Unavailable when Kafka is away: subscribing again goes on behind the last commit.
    """
    consumer = AIOKafkaConsumer(
        **client_options(settings),
        group_id=group,
        enable_auto_commit=False,
        auto_offset_reset=start,
        fetch_min_bytes=1,
    )
    seen = _Seen()
    try:
        await _join(consumer, settings.events, seen)
        async for record in consumer:
            partition = Partition(record.partition)
            recorded = parse_record(record.value or b"", partition, Position(record.offset))
            if seen.is_new(recorded) and _wanted(recorded, types, tenants):
                yield recorded
            await _commit(consumer, TopicPartition(record.topic, partition), record.offset + 1)
    except (KafkaError, OSError) as error:
        raise Unavailable("Kafka", error) from error
    finally:
        await consumer.stop()


async def _join(consumer: AIOKafkaConsumer, topic: str, seen: _Seen) -> None:
    await consumer.start()
    if topic not in await consumer.topics():  # it would be waited for without a word
        raise Unavailable("Kafka", f"topic {topic} does not exist: run `agentjournal init`")
    consumer.subscribe([topic], listener=seen)


async def _commit(consumer: AIOKafkaConsumer, tp: TopicPartition, position: int) -> None:
    try:
        await consumer.commit({tp: position})
    except (CommitFailedError, IllegalStateError):
        pass  # the partition went to another member of the group: it reads this event again


class _Seen(ConsumerRebalanceListener):  # type: ignore[misc]  # aiokafka has no types
    """What this member has read since partitions were dealt out last.

    What others handled in between is no gap: after each dealing the memory begins anew.
    """

    def __init__(self) -> None:
        self._order: dict[Partition, tuple[int, int]] = {}
        self._chain: dict[str, tuple[int, str]] = {}

    def on_partitions_revoked(self, revoked: Any) -> None:
        """Nothing is held for a partition that leaves."""

    def on_partitions_assigned(self, assigned: Any) -> None:  # noqa: ARG002 - of the interface
        self._order.clear()
        self._chain.clear()

    def is_new(self, recorded: Recorded) -> bool:
        """Return whether this is no repeat. Raises IntegrityError when it does not follow."""
        if recorded.order <= self._order.get(recorded.partition, (-1, -1)):
            return False
        self._order[recorded.partition] = recorded.order
        before = self._chain.get(recorded.stream)
        if before is not None:
            version, digest = before
            if recorded.version != version + 1 or recorded.prevhash != digest:
                raise IntegrityError(
                    f"{recorded.stream} version {recorded.version} does not follow "
                    f"version {version}"
                )
        self._chain[recorded.stream] = (recorded.version, recorded.hash)
        return True


def _wanted(
    recorded: Recorded, types: Collection[str] | None, tenants: Collection[str] | None
) -> bool:
    if types is not None and recorded.type not in types:
        return False
    return tenants is None or parse_stream(recorded.stream)[1] in tenants
