"""How fast the read models catch up, how soon an append shows in SQL, and what storage it takes."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psycopg

from agentjournal.ids import stream_id
from agentjournal.log import Log
from agentjournal.partitions import partition_of
from agentjournal.receipts import Receipt
from agentjournal.session import Session
from agentjournal.settings import Settings
from benchmarks.harness import percentile, role_process
from benchmarks.load import Counter, batches_of, fill, message, requests
from benchmarks.turns import turn_requests
from consumers.roles import run_projector, run_sequencer

PROJECTED, EVENTS_A_BATCH = 40_000, 20
SESSIONS_OF_TURNS, EVENTS_A_SESSION = 100, 400
LONG = 100_000
RATE, SECONDS, SAMPLED = 2_000, 8, 10  # events a second; one append in ten is followed
HANDLES = 50
KAFKA_FOLDER = Path(os.environ.get("AGENTJOURNAL_HOME", ""))  # where the broker keeps its logs

Figures = Mapping[str, tuple[float, str]]


async def catchup(settings: Settings) -> Figures:
    """Project a full log into all read models with one process, and weigh what it left."""
    made = requests(PROJECTED // EVENTS_A_BATCH, EVENTS_A_BATCH)
    await fill(settings, settings.appends, made)
    await sequence(settings)
    stop = asyncio.Event()
    began = time.perf_counter()
    task = asyncio.create_task(run_projector(settings, stop))
    await _projected(settings, PROJECTED)
    took = time.perf_counter() - began
    stop.set()
    await task
    payload = sum(_payload_bytes(value) for batch in made.values() for _, value in batch)
    return {
        "project.catchup": (PROJECTED / took, "events/s"),
        "storage.kafka": (kafka_bytes(settings) / payload, "bytes/byte"),
        "storage.postgres": (await postgres_bytes(settings) / payload, "bytes/byte"),
    }


async def project_all(settings: Settings) -> Figures:
    """Project sessions as agents have them into every read model, and weigh all tables."""
    made = turn_requests(SESSIONS_OF_TURNS, EVENTS_A_SESSION)
    await fill(settings, settings.appends, made)
    total = SESSIONS_OF_TURNS * EVENTS_A_SESSION
    await sequence(settings, total)
    [took] = await project_s(settings, [total])
    payload = sum(_payload_bytes(value) for batch in made.values() for _, value in batch)
    on_disk = await postgres_bytes(settings, like="%")
    return {
        "project.all": (total / took, "events/s"),
        "storage.postgres.all": (on_disk / payload, "bytes/byte"),
    }


async def flat(settings: Settings) -> Figures:
    """Project one session of 100,000 events: what one of the last tenth costs to one of the first.

    The first 100 are left out, since with them the projector starts.
    """
    stream = stream_id("session", "default", "long")
    batches = batches_of(stream, LONG // EVENTS_A_BATCH, EVENTS_A_BATCH)
    await fill(settings, settings.appends, {partition_of(stream.encode()): batches})
    await sequence(settings, LONG)
    tenth = LONG // 10
    start, first, ninth, last = await project_s(settings, [100, tenth, LONG - tenth, LONG])
    early, late = (first - start) / (tenth - 100), (last - ninth) / tenth
    return {"project.flat.last_to_first_tenth": (late / early, "ratio")}


async def project_s(settings: Settings, marks: Sequence[int]) -> list[float]:
    """Run a projector; return when every read model had read up to each of `marks` events."""
    stop = asyncio.Event()
    began, reached = time.perf_counter(), list[float]()
    task = asyncio.create_task(run_projector(settings, stop))
    for mark in marks:
        await _projected(settings, mark)
        reached.append(time.perf_counter() - began)
    stop.set()
    await task
    return reached


async def sequence(settings: Settings, wanted: int = PROJECTED) -> None:
    stop = asyncio.Event()
    task = asyncio.create_task(run_sequencer(settings, stop))
    async with Counter(settings, settings.events) as counter:
        await counter.reached(wanted, by=task)
    stop.set()
    await task


async def _projected(settings: Settings, wanted: int) -> None:
    query = (
        "SELECT coalesce(min(n), 0) FROM (SELECT sum(next_position) AS n "
        "FROM agentjournal_internal.projection_checkpoints GROUP BY projection) AS p"
    )
    connection = await psycopg.AsyncConnection.connect(settings.postgres, autocommit=True)
    async with connection:
        while True:
            row = await (await connection.execute(query)).fetchone()
            if row is not None and row[0] >= wanted:
                return
            await asyncio.sleep(0.02)


def _payload_bytes(value: bytes) -> int:
    return len(value) - value.index(b"\n") - 1


def kafka_bytes(settings: Settings) -> int:
    """Return the bytes of `events` on the broker's disk."""
    return sum(
        file.stat().st_size
        for folder in KAFKA_FOLDER.glob(f"**/{settings.events}-*")
        for file in folder.glob("*.log")
    )


async def postgres_bytes(settings: Settings, *, like: str = "%\\_1") -> int:
    """Return the bytes of our tables named `like` this, with indexes and what lies outside."""
    query = (
        "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class AS c "
        "JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        "WHERE n.nspname = 'agentjournal_internal' AND c.relkind = 'r' AND c.relname LIKE %s"
    )
    connection = await psycopg.AsyncConnection.connect(settings.postgres, autocommit=True)
    async with connection:
        await connection.execute("VACUUM")
        row = await (await connection.execute(query, (like,))).fetchone()
    return int(row[0]) if row is not None else 0


async def append_to_sql(settings: Settings) -> Figures:
    """From the call of `append` until the row can be read, at a steady rate, everything live."""
    async with (
        role_process(settings, "sequencer"),
        role_process(settings, "projector"),
        Log(settings) as log,
    ):
        handles = [log.session(f"bench-{n}", agent="bench") for n in range(HANDLES)]
        for handle in handles:
            await log.caught_up(await handle.append(message()), timeout_s=30)
        watch = _Watch(settings)
        watching = asyncio.create_task(watch.run())
        await _at_rate(handles, watch)
        await watch.all_seen()
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    return {
        "append_to_sql.p50": (percentile(watch.times, 50), "ms"),
        "append_to_sql.p99": (percentile(watch.times, 99), "ms"),
    }


async def _at_rate(handles: list[Session], watch: _Watch) -> None:
    chances = random.Random(1)
    began, tasks = time.perf_counter(), set[asyncio.Task[None]]()
    for number in range(RATE * SECONDS):
        handle = chances.choice(handles)
        task = asyncio.create_task(watch.append(handle, followed=number % SAMPLED == 0))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        ahead = began + number / RATE - time.perf_counter()
        if ahead > 0:
            await asyncio.sleep(ahead)
    await asyncio.gather(*tasks)


class _Watch:
    """Looks at the checkpoints all the time, and notes when an append shows."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._waiting: list[tuple[float, Receipt]] = []
        self.times: list[float] = []

    async def append(self, handle: Session, *, followed: bool) -> None:
        began = time.perf_counter()
        receipt = await handle.append(message())
        if followed:
            self._waiting.append((began, receipt))

    async def run(self) -> None:
        query = (
            "SELECT partition, min(input_position) "
            "FROM agentjournal_internal.projection_checkpoints GROUP BY partition"
        )
        connection = await psycopg.AsyncConnection.connect(self._settings.postgres, autocommit=True)
        async with connection:
            while True:
                rows = await (await connection.execute(query)).fetchall()
                now = time.perf_counter()
                reached: dict[int, int] = {row[0]: row[1] for row in rows}
                for began, receipt in self._waiting:
                    if receipt.position <= reached[receipt.partition]:
                        self.times.append((now - began) * 1_000)
                self._waiting = [
                    (began, receipt)
                    for began, receipt in self._waiting
                    if receipt.position > reached[receipt.partition]
                ]
                await asyncio.sleep(0.003)

    async def all_seen(self) -> None:
        while self._waiting:  # noqa: ASYNC110 - what is waited for is in the database
            await asyncio.sleep(0.01)
