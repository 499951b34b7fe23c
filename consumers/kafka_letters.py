"""The topic `dead` for a reader that keeps its own place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError

from agentjournal.ids import Milliseconds, Partition, Position
from agentjournal.kafka_consumers import stop_consumer
from agentjournal.kafka_options import client_options
from agentjournal.settings import Settings
from consumers.kafka_appends import bounds_of
from consumers.refusals import Letter
from streams.ports import OutageError

_LOG = structlog.get_logger()


class KafkaLetters:
    """Polls the topic `dead`; use it as an async context manager."""

    def __init__(self, settings: Settings) -> None:
        self._topic = settings.dead
        self._consumer = AIOKafkaConsumer(
            **client_options(settings),
            auto_offset_reset="none",
            enable_auto_commit=False,
            max_partition_fetch_bytes=2_200_000,
        )

    async def __aenter__(self) -> Self:
        await self._consumer.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await stop_consumer(self._consumer)

    async def assign(self, places: Mapping[Partition, Position]) -> None:
        """Read on from these places, other partitions of the topic from their beginning.

        What retention took before it was read is gone, and is said in the log.
        """
        first = TopicPartition(self._topic, 0)
        self._consumer.assign([first])
        await bounds_of(self._consumer, first)  # and now the topic's partitions are known
        found = self._consumer.partitions_for_topic(self._topic) or {0}
        tps = [TopicPartition(self._topic, partition) for partition in sorted(found)]
        bounds = {tp: await bounds_of(self._consumer, tp) for tp in tps}
        self._consumer.assign(tps)
        for tp, span in bounds.items():
            position = places.get(Partition(tp.partition), Position(0))
            if not span.start <= position <= span.end:
                _LOG.warning(
                    "letters_gone", partition=tp.partition, next=position, start=span.start
                )
                position = span.start
            self._consumer.seek(tp, position)

    async def poll(self, *, timeout_s: float) -> Mapping[Partition, Sequence[Letter]]:
        """Return what has arrived, in order; empty after `timeout_s`. Raises OutageError."""
        try:
            polled = await self._consumer.getmany(timeout_ms=int(timeout_s * 1_000))
        except KafkaError as error:  # also when retention was faster: assigning looks again
            raise OutageError(f"Kafka: {error!r}") from error
        return {Partition(tp.partition): list(map(_letter, of)) for tp, of in polled.items() if of}


def _letter(record: ConsumerRecord[Any, Any]) -> Letter:
    return Letter(
        Position(record.offset),
        Milliseconds(record.timestamp),
        record.key or b"",
        record.value or b"",
        dict(record.headers),
    )
