"""Topics, tables and roles of a test's own, on the servers that all tests share."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from agentjournal import Log
from agentjournal.handle import Servers
from agentjournal.outgoing import Redact
from agentjournal.pending import Pending
from agentjournal.settings import Settings
from consumers.cache import CacheOptions
from consumers.kafka_topics import make_topics
from consumers.postgres_migrations import migrate
from consumers.projector import ProjectorOptions
from consumers.roles import run_cache, run_projector, run_sequencer
from consumers.sequencer import SequencerOptions
from local.roles import python_path
from tests import warm

T = TypeVar("T")
Role = Callable[[Settings, asyncio.Event], Coroutine[Any, Any, None]]


async def sequencer(settings: Settings, stop: asyncio.Event) -> None:
    """Run a sequencer that starts over at once and saves often."""
    options = SequencerOptions(poll_s=0.02, heartbeat_s=0.2, outage_pause_s=0.05, save_every_s=0.2)
    await run_sequencer(settings, stop, options=options)


async def projector(settings: Settings, stop: asyncio.Event) -> None:
    """Run a projector that starts over at once."""
    options = ProjectorOptions(poll_s=0.02, heartbeat_s=0.2, outage_pause_s=0.05)
    await run_projector(settings, stop, options=options)


async def cache(settings: Settings, stop: asyncio.Event) -> None:
    """Run a cache that starts over at once."""
    options = CacheOptions(poll_s=0.02, heartbeat_s=0.2, outage_pause_s=0.05)
    await run_cache(settings, stop, options=options)


async def new_database(settings: Settings, *, like: str = "template1") -> Settings:
    """Return settings with a database, empty or `like` another, and a topic prefix of their own."""
    name = f"test_{uuid4().hex[:12]}"
    async with await psycopg.AsyncConnection.connect(
        settings.postgres, autocommit=True
    ) as connection:
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        await connection.execute(create.format(sql.Identifier(name), sql.Identifier(like)))
    return _with_database(settings, name)


def _with_database(settings: Settings, name: str) -> Settings:
    address = urlunsplit(urlsplit(settings.postgres)._replace(path=f"/{name}"))
    return replace(settings, postgres=address, topic_prefix=f"{name}.")


async def fresh_settings(settings: Settings) -> Settings:
    """Return settings with topics and tables of their own, all empty."""
    fresh = await new_database(settings, like=await _migrated(settings))
    await make_topics(fresh)
    return fresh


async def _migrated(settings: Settings) -> str:
    """Return the name of a database with all tables: copying it takes a third of making them."""
    name, half = "test_migrated", f"test_half_{uuid4().hex[:12]}"
    async with await psycopg.AsyncConnection.connect(
        settings.postgres, autocommit=True
    ) as connection:
        known = "SELECT FROM pg_database WHERE datname = %s"
        if await (await connection.execute(known, [name])).fetchone() is None:
            await connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(half)))
            await migrate(_with_database(settings, half))
            rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
            await connection.execute(rename.format(sql.Identifier(half), sql.Identifier(name)))
    return name


@asynccontextmanager
async def roles(settings: Settings, *names: Role) -> AsyncGenerator[None]:
    """Run roles in this loop until the end of the block; raise what one of them raises."""
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for role in names:
            group.create_task(role(settings, stop))
        try:
            yield
        finally:
            stop.set()


def addresses_of(settings: Settings) -> dict[str, str]:
    """Return the variables by which a process finds these servers, as this tenant."""
    names = ("kafka", "postgres", "redis", "tenant", "topic_prefix")
    return {f"AGENTJOURNAL_{name.upper()}": getattr(settings, name) for name in names}


def environment_of(settings: Settings) -> dict[str, str]:
    """Return the environment of a process that finds these servers, and this checkout."""
    return os.environ | addresses_of(settings) | {"PYTHONPATH": python_path()}


@contextmanager
def roles_in_a_process(settings: Settings, *names: str) -> Generator[None]:
    """Run roles in a process of their own, for as many tests as there are in the block.

    Not in a thread: drivers draw from the `random` that property tests rely on.
    """
    running = warm.start("consumers", names, environment_of(settings))
    try:
        yield
    finally:
        running.send_signal(signal.SIGTERM)
    assert running.wait(30) == 0, "the roles do not stop"


async def query(settings: Settings, statement: str) -> list[dict[str, Any]]:
    """Return the rows of a statement, as the owner of the database sees them."""
    connect = psycopg.AsyncConnection[dict[str, Any]].connect
    async with await connect(
        settings.postgres, autocommit=True, row_factory=dict_row
    ) as connection:
        cursor = await connection.execute(statement.encode())
        return [] if cursor.description is None else await cursor.fetchall()


def inside(log: Log) -> Servers:
    """Return what a log talks to."""
    reached: Any = log
    servers: Servers = reached._servers
    return servers


def unsettled(log: Log) -> list[Pending]:
    """Return the appends of a log that are on their way."""
    appender: Any = inside(log).appender
    return list(appender._outbox.unsettled())


async def eventually(look: Callable[[], T], *, timeout_s: float = 10) -> T:
    """Return the first true value that `look` gives. Raises TimeoutError."""
    async with asyncio.timeout(timeout_s):
        while not (found := look()):  # noqa: ASYNC110 - what is looked at tells nobody
            await asyncio.sleep(0)
    return found


async def within(running: Awaitable[T], *, timeout_s: float = 20) -> T:
    """Return what something comes to. Raises TimeoutError."""
    async with asyncio.timeout(timeout_s):
        return await running


@asynccontextmanager
async def connected(
    settings: Settings, *, tenant: str | None = None, redact: Redact | None = None
) -> AsyncGenerator[Log]:
    """Connect as a client of a tenant of its own."""
    name = tenant or f"tenant-{uuid4().hex[:8]}"
    async with AsyncExitStack() as stack:
        log = Log(replace(settings, tenant=name), redact)
        stack.push_async_callback(log.close)
        yield log
