"""What tests of the janitor share: one that is quick, what it comes to, and what it wrote."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

import agentjournal as aj
from agentjournal.alerts import Alert, decode_alert
from agentjournal.ids import Partition, StreamId, stream_id
from agentjournal.kafka_options import client_options
from agentjournal.partitions import partition_of
from agentjournal.settings import Settings
from consumers.janitor import JanitorOptions
from consumers.roles import run_janitor
from tests.servers import Role, query

QUICK = JanitorOptions(
    scan_every_s=0.05, look_every_s=0.05, margin_s=0.0, refused_pause_s=0.05, heartbeat_s=0.2
)
NO_ALERTS = replace(QUICK, look_every_s=1e9)


def janitor(options: JanitorOptions = QUICK) -> Role:
    """Return the role, to be run beside others."""
    return partial(run_janitor, options=options)


def said(text: str = "hi") -> aj.MessageAdded:
    """Return a message."""
    return aj.MessageAdded(role="user", content=text)


async def met(holds: Callable[[], Awaitable[bool]], *, timeout_s: float = 20) -> None:
    """Return once a condition holds. Raises TimeoutError."""
    async with asyncio.timeout(timeout_s):
        while not await holds():  # noqa: ASYNC110 - what is looked at tells nobody
            await asyncio.sleep(0.02)


async def with_status(log: aj.Log, status: str) -> set[str]:
    """Return the sessions that have a status."""
    return {each.session_id async for each in log.sessions(status=status, limit=1_000)}


async def expired(log: aj.Log, *names: str) -> None:
    """Return once these sessions have expired."""

    async def have_expired() -> bool:
        return set(names) <= await with_status(log, "expired")

    await met(have_expired)


async def types_of(session: aj.Session) -> list[str]:
    """Return the types of a session's events, in order."""
    return [each.type async for each in session.events()]


async def refused_of(log: aj.Log) -> list[dict[str, Any]]:
    """Return what was refused of a tenant, races that were lost included."""
    return await query(
        log.settings,
        f"SELECT * FROM agentjournal_internal.refused WHERE tenant = '{log.settings.tenant}'",
    )


async def alerts_of(log: aj.Log) -> list[Alert]:
    """Return every alert about a tenant, as often as it was written."""
    consumer = AIOKafkaConsumer(**client_options(log.settings), enable_auto_commit=False)
    await consumer.start()
    try:
        place = TopicPartition(log.settings.alerts, 0)
        consumer.assign([place])
        await consumer.seek_to_beginning(place)
        end, found = (await consumer.end_offsets([place]))[place], list[Alert]()
        while await consumer.position(place) < end:
            for record in (await consumer.getmany(place, timeout_ms=500)).get(place, ()):
                found.append(decode_alert(record.value or b""))
    finally:
        await consumer.stop()
    return [each for each in found if each.tenant == log.settings.tenant]


async def looked_at(log: aj.Log, name: str) -> None:
    """Return once a session that has begun after all others was looked at."""
    await log.session(name, limits={"events": 1}).append(said())
    stream, _ = placed(log, name)
    told = f"SELECT FROM agentjournal_internal.alerted WHERE stream = '{stream}'"

    async def has_alert() -> bool:
        return bool(await query(log.settings, told))

    await met(has_alert)


def placed(log: aj.Log, session: str) -> tuple[StreamId, Partition]:
    """Return a session's stream and partition."""
    stream = stream_id("session", log.settings.tenant, session)
    return stream, partition_of(stream.encode())


def with_limits(settings: Settings, folder: Path, text: str) -> Settings:
    """Return settings with a file of limits."""
    file = folder / "limits.toml"
    file.write_text(text, encoding="utf-8")
    return replace(settings, limits=str(file))
