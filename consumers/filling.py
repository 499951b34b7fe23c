"""Filling new generations with several processes, each over partitions of its own.

A process ends when its partitions are filled up to where it was told, or when the one that started
it lets go of it or dies.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from threading import Thread
from time import sleep
from typing import Any

import structlog

from agentjournal.ids import Partition, Position
from agentjournal.partitions import PARTITIONS
from agentjournal.settings import Settings
from consumers.indexer import models_of, most_records
from consumers.kafka_log_reader import KafkaLogReader
from consumers.ownership import share_of
from consumers.postgres_pool import PostgresPool
from consumers.rebuilding import Build, Builders
from consumers.roles import known_read_models
from consumers.stopping import pause
from projections import postgres_store as store
from projections.projection import Projection

_MOST_PROCESSES = 4  # beyond it Postgres is what takes the time
_LOOK_S = 0.2
_GRACE_S = 2.0  # what a process may take to end by itself


@dataclass(frozen=True, slots=True)
class Fillers:
    """Processes for what is worth starting them: each needs a second before it reads."""

    settings: Settings
    least: int = 20_000
    count: int = min(os.cpu_count() or 1, _MOST_PROCESSES)

    async def fill(
        self, building: Sequence[Projection], until: Mapping[Partition, Position]
    ) -> None:
        """Fill the tables of generations up to these positions, from where their checkpoints are.

        Raises what one of the processes fails with; the others have ended by then.
        """
        loop, spawning = asyncio.get_running_loop(), get_context("spawn")
        held, leash = spawning.Pipe(duplex=False)
        pool = ProcessPoolExecutor(
            self.count, mp_context=spawning, initializer=_begin, initargs=(held,)
        )
        named = [(each.name, each.generation) for each in building]
        try:
            shares = [(self.settings, named, until, each, self.count) for each in range(self.count)]
            await asyncio.gather(*(loop.run_in_executor(pool, _fill, *share) for share in shares))
        finally:
            leash.close()
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)
            held.close()


_held: list[Connection[Any, Any]] = []  # the end of the leash that this process has


def _begin(held: Connection[Any, Any]) -> None:
    """Prepare a process, which ends when it is let go of."""
    _held.append(held)
    Thread(target=_end_when_let_go, args=(held,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one that started it hears it too
    log_errors_only()


def log_errors_only() -> None:
    """Let this process say on standard error what went wrong, and nothing else of itself."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def _end_when_let_go(held: Connection[Any, Any]) -> None:
    """End this process when the one that started it is gone: the pool would wait for ever."""
    wait([held])
    sleep(_GRACE_S)
    os._exit(1)


def _fill(
    settings: Settings,
    named: Sequence[tuple[str, int]],
    until: Mapping[Partition, Position],
    number: int,
    count: int,
) -> None:
    known = known_read_models()
    building = [known[name].beside_live(generation) for name, generation in named]
    asyncio.run(_filled(settings, building, until, Builders(number, count)))


async def _filled(
    settings: Settings,
    building: Sequence[Projection],
    until: Mapping[Partition, Position],
    builders: Builders,
) -> None:
    share = share_of(builders.member, await builders.heartbeat(), PARTITIONS)
    due = {partition: until[partition] for partition in share}
    let_go = _let_go()
    async with (
        PostgresPool(settings, name="rebuild", size=3) as pool,
        KafkaLogReader(settings, most_records=most_records(building, 5_000)) as log,
    ):
        build = Build(log, models_of(pool, building), builders)
        build.raise_caps(due)
        build.start(building)
        while not let_go.is_set() and not await _are_at(pool, building, due):
            build.check()
            await pause(_LOOK_S, let_go)
        await build.stop()


def _let_go() -> asyncio.Event:
    """Return what is set when nobody holds the other end of the leash any more."""
    loop, let_go, held = asyncio.get_running_loop(), asyncio.Event(), _held[-1].fileno()

    def end() -> None:
        loop.remove_reader(held)
        let_go.set()

    loop.add_reader(held, end)
    return let_go


async def _are_at(
    pool: PostgresPool, building: Sequence[Projection], due: Mapping[Partition, Position]
) -> bool:
    async with pool.connection() as connection:
        found = await store.positions(connection, building)
    return all(places[p] >= position for places in found for p, position in due.items())
