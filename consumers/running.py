"""Running roles in the foreground: signals, logging, and how a failure ends the process."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Sequence

import structlog

from agentjournal.errors import AgentJournalError
from agentjournal.settings import Settings
from consumers.kafka_topics import make_topics
from consumers.postgres_migrations import migrate
from consumers.roles import ROLES

_LOG = structlog.get_logger()


async def initialise(settings: Settings) -> list[str]:
    """Make topics and apply migrations, what is missing of both; return what was done, in words.

    Raises Unavailable or IntegrityError.
    """
    done = [f"topic {name}" for name in await make_topics(settings)]
    done += [f"migration {name}" for name in await migrate(settings)]
    return done


def run_roles(settings: Settings, names: Sequence[str]) -> int:
    """Run roles until SIGTERM or SIGINT; return the exit status: 0, or 1 when one failed."""
    configure_logging()
    return asyncio.run(_run(settings, names))


async def _run(settings: Settings, names: Sequence[str]) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    tasks = [asyncio.create_task(_run_one(settings, name, stop), name=name) for name in names]
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    stop.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    del done
    return 1 if any(isinstance(result, BaseException) for result in results) else 0


async def _run_one(settings: Settings, name: str, stop: asyncio.Event) -> None:
    with structlog.contextvars.bound_contextvars(role=name):
        _LOG.info("role_started")
        try:
            await ROLES[name](settings, stop)
        except AgentJournalError as error:
            _LOG.error("role_failed", error=str(error), kind=type(error).__name__)
            raise
        except Exception:
            _LOG.exception("role_failed")
            raise
        _LOG.info("role_stopped")


def configure_logging() -> None:
    """Write one line an event, as JSON, to standard error; payloads are never logged."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
    )
