"""The topic `alerts`: writing to it, and reading it outside of any consumer group."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from datetime import datetime, timedelta
from typing import Any, Self

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError

from agentjournal.alerts import Alert, NoAlert, decode_alert, encode_alert
from agentjournal.errors import Unavailable
from agentjournal.ids import Partition, Position
from agentjournal.kafka_consumers import no_topic, start_consumer, stop_consumer
from agentjournal.kafka_options import client_options
from agentjournal.kafka_producers import abandon_producer, new_producer
from agentjournal.settings import Settings

_BATCH_BYTES = 500_000
_ACK_TIMEOUT_S = 10.0
_WRITTEN_BEFORE = timedelta(minutes=10)  # clocks of roles and brokers differ by less
_MOST_REMEMBERED = 10_000  # ids of alerts, to drop repeats
_POLL_MS = 500


class AlertWriter:
    """Writes alerts; use it as an async context manager. It connects when there is one to write."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._producer: AIOKafkaProducer | None = None
        self._writing = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def write(self, alerts: Sequence[Alert], /) -> None:
        """Return when every replica has all of them.

        Raises Unavailable: any of them may be there or not; writing them again is safe, because
        readers drop repeats.
        """
        if not alerts:
            return
        async with self._writing:
            try:
                async with asyncio.timeout(_ACK_TIMEOUT_S):
                    producer = await self._started()
                    for sent in [await self._send(producer, alert) for alert in alerts]:
                        await sent
            except (KafkaError, OSError) as error:  # a time-out is an OSError
                await self.close()
                raise Unavailable("Kafka", repr(error)) from error
            except BaseException:
                await self.close()
                raise

    async def close(self) -> None:
        """Close the connection; what `write` did not return for may be lost."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await abandon_producer(producer)

    async def _send(self, producer: AIOKafkaProducer, alert: Alert) -> Any:
        key = alert.alert_id.encode()
        return await producer.send(self._settings.alerts, encode_alert(alert), key)

    async def _started(self) -> AIOKafkaProducer:
        if self._producer is None:
            producer = await new_producer(self._settings, max_batch_size=_BATCH_BYTES)
            try:
                # Asked for by name, a topic that is missing would be waited for.
                cluster = await producer.client.fetch_all_metadata()
                if not cluster.partitions_for_topic(self._settings.alerts):
                    raise no_topic(self._settings.alerts)  # noqa: TRY301 - abandoned below
            except BaseException:
                await abandon_producer(producer)
                raise
            self._producer = producer
        return self._producer


class AlertReader:
    """Reads the topic from one place on; use it as an async context manager.

    Everything may raise Unavailable.
    """

    def __init__(self, settings: Settings) -> None:
        self._topic = settings.alerts
        self._consumer = AIOKafkaConsumer(
            **client_options(settings),
            # What retention takes while it is read is old news.
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            fetch_min_bytes=1,
        )
        self._since: datetime | None = None
        self._seen: dict[str, None] = {}

    async def __aenter__(self) -> Self:
        await start_consumer(self._consumer, self._topic)
        return self

    async def __aexit__(self, *_: object) -> None:
        await stop_consumer(self._consumer)

    async def kept(
        self, *, last: int | None = None, since: datetime | None = None
    ) -> AsyncGenerator[Alert | NoAlert]:
        """Yield the alerts that are kept now, in the order they were written, each once.

        At most the `last` records of a partition are looked at, and of alerts only those seen
        `since` then. Call it once; `written` goes on behind it.
        """
        self._since = since
        try:
            ends = await self._assign(last, since)
            while any([await self._consumer.position(tp) < end for tp, end in ends.items()]):
                for found in await self.poll():
                    yield found
        except (KafkaError, OSError) as error:
            raise Unavailable("Kafka", repr(error)) from error

    async def written(self) -> AsyncGenerator[Alert | NoAlert]:
        """Yield what is written from then on, each once, until nobody asks any more."""
        while True:
            for found in await self.poll():
                yield found

    async def poll(self) -> list[Alert | NoAlert]:
        """Return what was written since the last look, at once or empty after half a second.

        A broker that is away looks like one with nothing new: `check` tells them apart.
        """
        try:
            polled = await self._consumer.getmany(timeout_ms=_POLL_MS)
        except KafkaError as error:
            raise Unavailable("Kafka", repr(error)) from error
        found = [_alert(record) for records in polled.values() for record in records]
        return [each for each in found if self._is_wanted(each)]

    async def check(self, *, timeout_s: float = 5.0) -> None:
        """Raise Unavailable unless the broker answers within that time."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._consumer.end_offsets([TopicPartition(self._topic, 0)])
        except TimeoutError as error:
            raise Unavailable("Kafka", f"no answer in {timeout_s:g} s") from error
        except (KafkaError, OSError) as error:
            raise Unavailable("Kafka", repr(error)) from error

    async def _assign(self, last: int | None, since: datetime | None) -> dict[TopicPartition, int]:
        """Read from where that begins; return where each partition ends now."""
        # Asked about one partition, the consumer learns of the others. It is assigned only once:
        # one that is stopped right after another assignment may never return.
        consumer = self._consumer
        await consumer.end_offsets([TopicPartition(self._topic, 0)])
        partitions = consumer.partitions_for_topic(self._topic) or {0}
        tps = [TopicPartition(self._topic, partition) for partition in sorted(partitions)]
        starts, ends = await consumer.beginning_offsets(tps), await consumer.end_offsets(tps)
        if last is not None:
            starts = {tp: max(start, ends[tp] - last) for tp, start in starts.items()}
        if since is not None:
            ms = int((since - _WRITTEN_BEFORE).timestamp() * 1_000)
            found = await consumer.offsets_for_times(dict.fromkeys(tps, max(ms, 0)))
            later = {tp: ends[tp] if at is None else at.offset for tp, at in found.items()}
            starts = {tp: max(start, later[tp]) for tp, start in starts.items()}
        consumer.assign(tps)
        for tp, start in starts.items():
            consumer.seek(tp, start)
        return dict(ends)

    def _is_wanted(self, found: Alert | NoAlert) -> bool:
        if isinstance(found, NoAlert):
            return True
        is_old = self._since is not None and _is_before(found.at, self._since)
        if is_old or found.alert_id in self._seen:
            return False
        self._seen[found.alert_id] = None
        if len(self._seen) > _MOST_REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return True


def _alert(record: ConsumerRecord[Any, Any]) -> Alert | NoAlert:
    try:
        return decode_alert(record.value or b"")
    except ValueError as error:
        return NoAlert(Partition(record.partition), Position(record.offset), str(error))


def _is_before(at: str, since: datetime) -> bool:
    try:
        return datetime.fromisoformat(at).astimezone() < since
    except ValueError:
        return False  # its time is not known, so it is not known to be too old
