"""The topic `alerts`: writing to it, and reading it outside of any consumer group."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, Self

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError

from agentjournal.alerts import Alert, NoAlert, decode_alert, encode_alert
from agentjournal.errors import Unavailable
from agentjournal.ids import Partition, Position
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
                    raise _no_topic(self._settings)  # noqa: TRY301 - abandoned below
            except BaseException:
                await abandon_producer(producer)
                raise
            self._producer = producer
        return self._producer


async def read_alerts(
    settings: Settings,
    *,
    last: int | None = None,
    since: datetime | None = None,
    follow: bool = False,
) -> AsyncGenerator[Alert | NoAlert]:
    """Yield the alerts that are kept, in the order they were written, each once.

    At most the `last` records are looked at, and of alerts only those seen `since` then. With
    `follow` it goes on with what is written. Raises Unavailable.
    """
    seen: dict[str, None] = {}
    try:
        async with _consumer(settings) as consumer:
            ends = await _assign(consumer, settings, last, since)
            while follow or any([await consumer.position(tp) < ends[tp] for tp in ends]):
                for tp, records in (await consumer.getmany(timeout_ms=_POLL_MS)).items():
                    for record in records:
                        if not follow and record.offset >= ends[tp]:
                            continue
                        found = _alert(record)
                        if _is_new(found, seen, since):
                            yield found
    except (KafkaError, OSError) as error:
        raise Unavailable("Kafka", repr(error)) from error


@asynccontextmanager
async def _consumer(settings: Settings) -> AsyncGenerator[AIOKafkaConsumer]:
    consumer = AIOKafkaConsumer(
        **client_options(settings),
        # What retention takes while it is read is old news.
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        fetch_min_bytes=1,
    )
    try:
        await consumer.start()
        if settings.alerts not in await consumer.topics():  # it would be waited for without a word
            raise _no_topic(settings)
        yield consumer
    finally:
        await consumer.stop()


async def _assign(
    consumer: AIOKafkaConsumer, settings: Settings, last: int | None, since: datetime | None
) -> dict[TopicPartition, int]:
    """Read from where that begins; return where each partition ends now."""
    # Known for the cluster, not yet for this consumer: it has not been told what it reads.
    consumer.assign([TopicPartition(settings.alerts, 0)])
    await consumer.end_offsets([TopicPartition(settings.alerts, 0)])
    partitions = consumer.partitions_for_topic(settings.alerts) or {0}
    tps = [TopicPartition(settings.alerts, partition) for partition in sorted(partitions)]
    starts, ends = await consumer.beginning_offsets(tps), await consumer.end_offsets(tps)
    if last is not None:
        starts = {tp: max(start, ends[tp] - last) for tp, start in starts.items()}
    if since is not None:
        ms = int((since - _WRITTEN_BEFORE).timestamp() * 1_000)
        found = await consumer.offsets_for_times(dict.fromkeys(tps, max(ms, 0)))
        later = {tp: ends[tp] if place is None else place.offset for tp, place in found.items()}
        starts = {tp: max(start, later[tp]) for tp, start in starts.items()}
    consumer.assign(tps)
    for tp, start in starts.items():
        consumer.seek(tp, start)
    return dict(ends)


def _alert(record: ConsumerRecord[Any, Any]) -> Alert | NoAlert:
    try:
        return decode_alert(record.value or b"")
    except ValueError as error:
        return NoAlert(Partition(record.partition), Position(record.offset), str(error))


def _is_new(found: Alert | NoAlert, seen: dict[str, None], since: datetime | None) -> bool:
    if isinstance(found, NoAlert):
        return True
    if found.alert_id in seen or (since is not None and _is_before(found.at, since)):
        return False
    seen[found.alert_id] = None
    if len(seen) > _MOST_REMEMBERED:
        del seen[next(iter(seen))]
    return True


def _is_before(at: str, since: datetime) -> bool:
    try:
        return datetime.fromisoformat(at).astimezone() < since
    except ValueError:
        return False  # its time is not known, so it is not known to be too old


def _no_topic(settings: Settings) -> Unavailable:
    return Unavailable("Kafka", f"topic {settings.alerts} does not exist: run `agentjournal init`")
