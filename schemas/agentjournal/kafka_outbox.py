"""Requests on their way to Kafka: one batch a partition in flight, so that order always holds.

A producer whose batch failed or is overdue is thrown away; a new one sends what has no outcome yet
again, in order, before anything new. Repeats are harmless: the sequencer knows their append ids.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Collection, Iterable
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from agentjournal.errors import IntegrityError, Unavailable
from agentjournal.ids import Partition, StreamId
from agentjournal.kafka_consumers import no_topic
from agentjournal.kafka_producers import abandon_producer, new_producer
from agentjournal.partitions import PARTITIONS, partition_of
from agentjournal.pending import Pending
from agentjournal.settings import Settings

_BATCH_BYTES = 900_000  # of requests in a batch; a single larger one goes alone
_BATCH_LIMIT = 1_000_000  # below the topic's max.message.bytes
_ACK_TIMEOUT_S = 10.0
_PAUSE_S = 0.2


class KafkaOutbox:
    """Sends pending appends, in the order they were put in, partition by partition."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._queues: dict[Partition, deque[Pending]] = {}
        self._unsettled: dict[Partition, dict[tuple[StreamId, str], Pending]] = {}
        self._wake: dict[Partition, asyncio.Event] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._producer: AIOKafkaProducer | None = None
        self._renewing = asyncio.Lock()
        self.trouble: BaseException | None = None  # why nothing gets through, when nothing does

    def put(self, pending: Pending) -> None:
        """Take an append; it is sent as soon as the one batch before it is acknowledged.

        None of the same stream and append id may be unsettled: an answer would not say which it is.
        """
        partition = pending.partition
        if partition not in self._queues:
            self._queues[partition] = deque()
            self._unsettled[partition] = {}
            self._wake[partition] = asyncio.Event()
            self._tasks.append(asyncio.create_task(self._send_for_ever(partition)))
        self._unsettled[partition][pending.key] = pending
        self._queues[partition].append(pending)
        self._wake[partition].set()

    def again(self, pending: Pending) -> None:
        """Send an append once more: its answer is overdue."""
        if pending not in self._queues[pending.partition]:
            self._queues[pending.partition].append(pending)
            self._wake[pending.partition].set()

    def forget(self, pending: Pending) -> None:
        """Drop an append: it is settled, or it never left and nobody wants it any more."""
        self._unsettled[pending.partition].pop(pending.key, None)
        if not pending.attempts:
            with contextlib.suppress(ValueError):
                self._queues[pending.partition].remove(pending)

    def find(self, stream: StreamId, append_id: str) -> Pending | None:
        """Return the unsettled append of this id, or None."""
        unsettled = self._unsettled.get(partition_of(stream.encode()), {})
        return unsettled.get((stream, append_id))

    def unsettled(self) -> Iterable[Pending]:
        """Return all appends without an outcome, in order within a partition."""
        return [p for unsettled in self._unsettled.values() for p in unsettled.values()]

    async def close(self) -> None:
        """Stop sending; what is in flight stays unknown."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._producer is not None:
            await abandon_producer(self._producer)
            self._producer = None

    async def _send_for_ever(self, partition: Partition) -> None:
        queue, wake = self._queues[partition], self._wake[partition]
        while True:
            await wake.wait()
            wake.clear()
            while queue:
                try:
                    producer = await self._started()
                except IntegrityError as error:
                    self._fail(partition, error)
                    break
                try:
                    await self._send_batch(producer, partition, queue)
                    self.trouble = None
                except (KafkaError, TimeoutError, OSError) as error:
                    self.trouble = error
                    await self._renew(producer)

    def _fail(self, partition: Partition, error: IntegrityError) -> None:
        for pending in [*self._queues[partition], *self._unsettled[partition].values()]:
            pending.fail(error)
        self._queues[partition].clear()

    async def _send_batch(
        self, producer: AIOKafkaProducer, partition: Partition, queue: deque[Pending]
    ) -> None:
        batch: Any = producer.create_batch()
        now = asyncio.get_running_loop().time()
        sent: list[Pending] = []
        used = 0
        while queue:
            pending = queue[0]
            if pending.outcome.done():  # answered meanwhile, from an earlier attempt
                queue.popleft()
                continue
            size = 2_000 + sum(len(event.data) + 600 for event in pending.request.events)
            if sent and used + size > _BATCH_BYTES:
                break
            key = pending.stream.encode()
            value = pending.next_attempt(now)
            if batch.append(key=key, value=value, timestamp=None) is None:
                pending.attempts -= 1
                break
            used += len(value) + len(key) + 100
            sent.append(queue.popleft())
        if not sent:
            return
        batch.close()  # an open one would take in what others send
        async with asyncio.timeout(_ACK_TIMEOUT_S):
            topic = self._settings.appends
            await (await producer.send_batch(batch, topic, partition=partition))
        for pending in sent:
            if not pending.in_log.done():
                pending.in_log.set_result(None)

    async def _started(self) -> AIOKafkaProducer:
        async with self._renewing:
            while self._producer is None:
                try:
                    self._producer = await self._checked_producer()
                except (KafkaError, OSError, Unavailable) as error:
                    self.trouble = error
                    await asyncio.sleep(_PAUSE_S)
            return self._producer

    async def _checked_producer(self) -> AIOKafkaProducer:
        producer = await new_producer(self._settings, max_batch_size=_BATCH_LIMIT)
        try:
            # Asked for by name, a topic that is missing would be waited for.
            cluster = await producer.client.fetch_all_metadata()
            self._check_partitions(cluster.partitions_for_topic(self._settings.appends))
        except BaseException:
            await abandon_producer(producer)
            raise
        return producer

    def _check_partitions(self, found: Collection[int] | None) -> None:
        topic = self._settings.appends
        if not found:
            raise no_topic(topic)
        if len(found) != PARTITIONS:
            raise IntegrityError(
                f"topic {topic} has {len(found)} partitions, the rules have {PARTITIONS}: "
                "these are not the topics of `agentjournal init`"
            )

    async def _renew(self, failed: AIOKafkaProducer) -> None:
        async with self._renewing:
            if self._producer is failed:
                self._producer = None
                await abandon_producer(failed)
                for partition, unsettled in self._unsettled.items():
                    queue = self._queues[partition]
                    queue.clear()
                    queue.extend(unsettled.values())
                    self._wake[partition].set()
                await asyncio.sleep(_PAUSE_S)
