"""How many idle sessions expire a second, and what appends of an agent take meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

import psycopg

import agentjournal
from agentjournal.ids import Partition, stream_id
from agentjournal.log import Log
from agentjournal.partitions import PARTITIONS, partition_of
from agentjournal.settings import Settings
from benchmarks.harness import percentile, role_process
from benchmarks.load import Record, batch_of, fill, message

SESSIONS = 20_000
_PAUSES = 20  # times as long as a look takes, so that looking is a twentieth of a core's work
APPENDS_A_SECOND, ALONE_S = 20, 5.0
_SHOWN = """
SELECT count(*), count(*) FILTER (WHERE status = 'expired')
FROM agentjournal.sessions WHERE agent = 'idle'
"""

Figures = Mapping[str, tuple[float, str]]


async def expiry(settings: Settings, sessions: int = SESSIONS) -> Figures:
    """Let all sessions expire while an agent appends at a steady rate; it does so alone before.

    The rate is from the first that shows as expired to the last.
    """
    connect = psycopg.AsyncConnection.connect
    async with (
        await connect(settings.postgres, autocommit=True) as connection,
        role_process(settings, "sequencer"),
        role_process(settings, "projector"),
        Log(settings) as log,
    ):
        await fill(settings, settings.appends, _idle(sessions))
        await _shown(connection, sessions, 0)
        beside, stop = list[float](), asyncio.Event()
        alone = await _append(log, ALONE_S, asyncio.Event())
        async with role_process(settings, "janitor"), asyncio.TaskGroup() as group:
            first = await _shown(connection, sessions, 1)
            began = time.perf_counter()
            appending = group.create_task(_append(log, 3_600, stop))
            await _shown(connection, sessions, sessions)
            took = time.perf_counter() - began
            stop.set()
            beside = await appending
    return {
        "expiry": ((sessions - first) / took, "sessions/s"),
        "expiry.append.p99": (percentile(beside, 99), "ms"),
        "expiry.append.p99.raw": (percentile(alone, 99), "ms"),
        "expiry.append.p50": (percentile(beside, 50), "ms"),
        "expiry.append.p50.raw": (percentile(alone, 50), "ms"),
    }


def _idle(count: int) -> dict[Partition, list[Record]]:
    """Return the requests by which sessions begin that may be idle for a second."""
    made: dict[Partition, list[Record]] = {Partition(p): [] for p in range(PARTITIONS)}
    for number in range(count):
        stream = stream_id("session", "default", f"idle-{number}")
        start = agentjournal.SessionStarted(agent="idle", ttl_s=1)
        made[partition_of(stream.encode())].append(batch_of(stream, [start, message()]))
    return made


async def _shown(connection: psycopg.AsyncConnection, sessions: int, least_expired: int) -> int:
    """Return how many have expired, once all are shown, and at least so many of them expired."""
    while True:
        began = time.perf_counter()
        cursor = await connection.execute(_SHOWN)
        row = await cursor.fetchone()
        if row is not None and row[0] >= sessions and row[1] >= least_expired:
            return int(row[1])
        await asyncio.sleep(max(0.1, _PAUSES * (time.perf_counter() - began)))


async def _append(log: Log, seconds: float, stop: asyncio.Event) -> list[float]:
    """Append regularly; return the milliseconds of each append from when it was due."""
    session, began, times = log.session("busy", agent="bench"), time.perf_counter(), list[float]()
    while not stop.is_set():
        due = began + len(times) / APPENDS_A_SECOND
        if due - began > seconds:
            break
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        await session.append(message())
        times.append((time.perf_counter() - due) * 1_000)
    return times
