"""Kafka producers as we start them, and how to get rid of one that a broker left hanging."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from aiokafka import AIOKafkaProducer

from agentjournal.kafka_options import client_options
from agentjournal.settings import Settings


async def new_producer(settings: Settings, *, max_batch_size: int) -> AIOKafkaProducer:
    """Return a started idempotent producer that waits for all replicas.

    Raises KafkaError when the broker cannot be reached.
    """
    producer = AIOKafkaProducer(
        **client_options(settings),
        acks="all",
        enable_idempotence=True,
        compression_type="zstd",
        max_batch_size=max_batch_size,
        max_request_size=8 * 1024 * 1024,
        linger_ms=0,
    )
    try:
        await producer.start()
    except BaseException:
        await abandon_producer(producer)
        raise
    return producer


async def abandon_producer(producer: AIOKafkaProducer) -> None:
    """Close a producer without waiting for what it holds.

    `stop()` flushes, and does not return while the broker is silent; what is in flight stays
    unknown to the caller, who must settle it another way.
    """
    internals: Any = producer
    internals._closed = True  # noqa: SLF001 - there is no public way that does not flush
    # The sender would wait for an update of metadata, which stop with the client.
    internals.client._maybe_wait_metadata = _no_update  # noqa: SLF001
    with suppress(Exception):
        await producer.client.close()
    with suppress(Exception):
        async with asyncio.timeout(2):
            await internals._sender.close()  # noqa: SLF001
    with suppress(Exception):
        await producer.client.close()  # the sender may have connected anew meanwhile
    with suppress(Exception):
        _fail_batches(internals._message_accumulator)  # noqa: SLF001


async def _no_update() -> None:
    pass


def _fail_batches(accumulator: Any) -> None:
    """Fail what is held, so that whoever waits learns of it, and nobody else is told."""
    waiting = [batch for batches in accumulator._batches.values() for batch in batches]  # noqa: SLF001
    held = accumulator._pending_batches  # noqa: SLF001
    held.update(waiting)  # one that was to be sent again looks for itself here when it fails
    accumulator.fail_all(ConnectionError("the producer was thrown away"))
    for batch in held:
        for future in (batch.future, batch._drain_waiter):  # noqa: SLF001
            if not future.cancelled():
                future.exception()  # nobody waiting for it is not a fault
