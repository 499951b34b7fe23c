"""Looking after a process: its loop says that it comes round, servers are asked if they answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

from agentjournal.settings import Settings
from consumers.health import HealthOptions, ServerHealth
from consumers.kafka_probe import KafkaProbe
from consumers.postgres_probe import PostgresProbe
from consumers.redis_probe import RedisProbe
from consumers.watch import Watched
from streams.ports import OutageError

_SAMPLE_S = 1.0
_CLOSE_S = 0.5


class Probe(Protocol):
    """Asks one server."""

    async def ask(self) -> None:
        """Return once the server answered. Raises OutageError."""
        ...

    async def close(self) -> None: ...


PROBES: Mapping[str, Callable[[Settings], Probe]] = {
    "kafka": KafkaProbe,
    "postgres": PostgresProbe,
    "redis": RedisProbe,
}


@asynccontextmanager
async def looked_after(watched: Watched, settings: Settings) -> AsyncGenerator[None]:
    """Keep the facts of `watched` up to date until the end of the block."""
    health = watched.health
    needed: Iterable[str] = {name for role in health.roles.values() for name in role.servers}
    for name in needed:
        health.servers[name] = ServerHealth()
    tasks = [asyncio.create_task(_beat(watched)), asyncio.create_task(_sample(watched))]
    for name in needed:
        asking = _ask(name, PROBES[name](settings), watched)
        tasks.append(asyncio.create_task(asking))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=_CLOSE_S)  # a server that is away would hold up the end


async def _beat(watched: Watched) -> None:
    while True:
        watched.health.beat()
        await asyncio.sleep(watched.health.options.beat_s)


async def _sample(watched: Watched) -> None:
    while True:
        await asyncio.sleep(_SAMPLE_S)
        for watch in watched.watches.values():
            for sample in watch.samples:
                sample()


async def _ask(name: str, probe: Probe, watched: Watched) -> None:
    """Ask a server again and again; one question at a time, however long the answer takes."""
    options: HealthOptions = watched.health.options
    found = watched.health.servers[name]
    try:
        while True:
            found.asked_s = watched.health.clock()
            try:
                await probe.ask()
                found.error = None
            except OutageError as error:
                found.error = str(error)
            except Exception as error:  # noqa: BLE001 - whatever a driver raises: it asks again
                found.error = f"{name} could not be asked: {type(error).__name__}"
            found.asked_s = None
            await asyncio.sleep(options.ask_every_s)
    finally:
        await probe.close()
