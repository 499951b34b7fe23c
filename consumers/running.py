"""Running roles in the foreground: signals, logging, and how a failure ends the process."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack

import structlog

from agentjournal.collecting import freeze_loaded
from agentjournal.errors import AgentJournalError
from agentjournal.settings import Settings
from consumers.health import DEFAULT_SERVERS, SERVERS, ProcessHealth
from consumers.health_probes import looked_after
from consumers.health_server import Serving, serving
from consumers.kafka_topics import make_topics
from consumers.log_lines import configure
from consumers.postgres_migrations import migrate
from consumers.roles import ROLES
from consumers.stopping import StopOptions, ended, has_failed, stopped_by_signals
from consumers.watch import Watch, Watched, set_watch

_LOG = structlog.get_logger()


async def initialise(settings: Settings) -> list[str]:
    """Make topics and apply migrations, what is missing of both; return what was done, in words.

    Raises Unavailable or IntegrityError.
    """
    done = [f"topic {name}" for name in await make_topics(settings)]
    done += [f"migration {name}" for name in await migrate(settings)]
    return done


def run_roles(settings: Settings, names: Sequence[str], where: Serving | None = None) -> int:
    """Run roles until SIGTERM or SIGINT, and serve metrics and health at `where` meanwhile.

    Returns the exit status: 0, or 1 when a role failed. What a role could not finish in time,
    because a server was away, it has said in the log. Raises NotConfigured for an address that
    cannot be listened on.
    """
    configure_logging()
    freeze_loaded()
    return asyncio.run(_run(settings, names, where))


async def _run(
    settings: Settings,
    names: Sequence[str],
    where: Serving | None,
    options: StopOptions | None = None,
) -> int:
    watched = Watched(ProcessHealth(time.monotonic))
    for name in names:
        watched.add(name, SERVERS.get(name, DEFAULT_SERVERS))
    stop, options = asyncio.Event(), options or StopOptions()
    async with AsyncExitStack() as stack:
        stack.enter_context(stopped_by_signals(stop, watched.stopping, options))
        if where is not None:
            port = stack.enter_context(serving(watched, where))
            _LOG.info("metrics_served", host=where.host, port=port)
            await stack.enter_async_context(looked_after(watched, settings))
        tasks = [
            asyncio.create_task(_run_one(settings, watch, stop), name=name)
            for name, watch in watched.watches.items()
        ]
        all_ended = await ended(tasks, stop, watched.unsaved, options)
        status = 1 if any(map(has_failed, tasks)) else 0
        if not all_ended:
            os._exit(status)  # what is left waits for a server, and would for longer
        return status


async def _run_one(settings: Settings, watch: Watch, stop: asyncio.Event) -> None:
    set_watch(watch)
    name = watch.role
    with structlog.contextvars.bound_contextvars(role=name):
        _LOG.info("role_started")
        try:
            await ROLES[name](settings, stop)
        except AgentJournalError as error:
            _LOG.error("role_failed", reason=str(error), kind=type(error).__name__)
            raise
        except Exception as error:  # its words may quote a payload
            _LOG.exception("role_failed", kind=type(error).__name__)
            raise
        _LOG.info("role_stopped")


def configure_logging() -> None:
    """Write one line an event, as JSON, to standard error; payloads are never logged."""
    configure(sys.stderr)
