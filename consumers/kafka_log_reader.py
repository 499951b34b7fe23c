"""The `events` topic for readers that keep their own place: manual positions, hashes verified."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Self

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError, OffsetOutOfRangeError

from agentjournal.envelope import Recorded, parse_record
from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position
from agentjournal.kafka_consumers import stop_consumer
from agentjournal.kafka_options import client_options
from agentjournal.settings import Settings
from consumers.kafka_appends import SHORT_WAIT_MS, bounds_of, end_seen, record_at
from projections.whole_batches import WholeBatches
from streams.ports import OutageError


class KafkaLogReader:
    """Polls the canonical log; use it as an async context manager."""

    def __init__(self, settings: Settings, *, most_records: int = 2_000) -> None:
        self._topic = settings.events
        self._options = client_options(settings)
        self._most = most_records
        self._consumer = self._new_consumer()
        self._single = self._new_consumer(wait_ms=SHORT_WAIT_MS)
        self._batches: dict[Partition, WholeBatches] = {}

    def _new_consumer(self, *, wait_ms: int = 500) -> AIOKafkaConsumer:
        return AIOKafkaConsumer(
            **self._options,
            auto_offset_reset="none",
            enable_auto_commit=False,
            max_partition_fetch_bytes=2_200_000,
            fetch_min_bytes=1,
            fetch_max_wait_ms=wait_ms,
        )

    async def __aenter__(self) -> Self:
        await self._consumer.start()
        await self._single.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await stop_consumer(self._consumer)
        await stop_consumer(self._single)

    def assign(self, places: Mapping[Partition, Position]) -> None:
        """Read these partitions from these positions on, and no others."""
        self._batches = {}
        if not places:
            self._consumer.unsubscribe()
            return
        # Seeking in the same breath as assigning leaves the fetcher no moment to start elsewhere.
        self._consumer.assign([self._tp(partition) for partition in places])
        self._batches = {partition: WholeBatches() for partition in places}
        for partition, position in places.items():
            self._consumer.seek(self._tp(partition), position)

    def pause(self, partitions: Collection[Partition]) -> None:
        """Let these partitions wait until they are resumed, or assigned anew."""
        self._consumer.pause(*(self._tp(partition) for partition in partitions))

    def resume(self, partitions: Collection[Partition]) -> None:
        """Read these partitions again."""
        self._consumer.resume(*(self._tp(partition) for partition in partitions))

    async def end(self, partition: Partition) -> Position:
        """Return the position behind the last record."""
        return (await bounds_of(self._single, self._tp(partition))).end

    def end_seen(self, partition: Partition) -> Position | None:
        """Return the position behind the last record, as the broker said when it was last read."""
        return end_seen(self._consumer, self._tp(partition))

    async def last(self, partition: Partition) -> Position:
        """Return the position of the last record, that of the next where there is none."""
        bounds = await bounds_of(self._single, self._tp(partition))
        return max(bounds.start, Position(bounds.end - 1))

    async def poll(self, *, timeout_s: float) -> Mapping[Partition, Sequence[Recorded]]:
        """Return what has arrived, by partition and in order; empty after `timeout_s`.

        Raises IntegrityError for a record whose hash is not that of its bytes, or when the log was
        trimmed past what is next. An append that is there in part only is held back until it is
        whole, so nobody ever sees half of it.
        """
        try:
            polled = await self._consumer.getmany(
                timeout_ms=int(timeout_s * 1_000), max_records=self._most
            )
        except OffsetOutOfRangeError as error:
            raise IntegrityError(f"{self._topic} was trimmed past what is next: {error}") from error
        except KafkaError as error:
            raise OutageError(f"Kafka: {error!r}") from error
        ready: dict[Partition, Sequence[Recorded]] = {}
        for tp, records in polled.items():
            partition = Partition(tp.partition)
            events = [
                parse_record(record.value or b"", partition, Position(record.offset))
                for record in records
            ]
            if passed := self._batches[partition].passed(events):
                ready[partition] = passed
        return ready

    async def check(self, partition: Partition, position: Position, hash_before: str) -> None:
        """Check that the log still holds what was read up to `position`.

        Raises IntegrityError when it was trimmed, shortened or replaced: rebuild the read model.
        """
        bounds = await bounds_of(self._single, self._tp(partition))
        if not bounds.start <= position <= bounds.end:
            raise IntegrityError(
                f"{self._topic}, partition {partition}: position {position} is next, but the log "
                f"holds {bounds.start} to {bounds.end}: rebuild the read models"
            )
        if not hash_before or position == bounds.start:
            return
        record = await record_at(self._single, self._tp(partition), Position(position - 1))
        if record is None or parse_record(record.value or b"").hash != hash_before:
            raise IntegrityError(
                f"{self._topic}, partition {partition}: the record before position {position} is "
                "not the one that was read: the log was replaced, rebuild the read models"
            )

    def _tp(self, partition: Partition) -> TopicPartition:
        return TopicPartition(self._topic, partition)
