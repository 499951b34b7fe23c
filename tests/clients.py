"""Clients of a log, for tests of what every log promises: on the servers, and in memory."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

from agentjournal import Log
from agentjournal.outgoing import Redact
from agentjournal.settings import Settings
from agentjournal.testing import MemoryLog, memory_log
from tests.servers import connected, inside


class Clients(ABC):
    """Connects to one log."""

    @abstractmethod
    def connected(
        self, *, tenant: str | None = None, redact: Redact | None = None, artifacts: bool = False
    ) -> AbstractAsyncContextManager[Log]:
        """Connect as a client of a tenant of its own, or of `tenant`."""

    @abstractmethod
    def away(self) -> AbstractAsyncContextManager[Log]:
        """Connect as a client that no append gets through from."""

    @abstractmethod
    async def time_passes(self, seconds: float) -> None:
        """Return once the broker's clock is so much later; less than a second on servers."""

    @abstractmethod
    def seen_later(self, log: Log, seconds: float) -> Log:
        """Return the same client, whose own clock is so much later."""


class OfServers(Clients):
    """Clients of Kafka, Postgres and Redis."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings, self._artifacts = settings, folder

    def connected(
        self, *, tenant: str | None = None, redact: Redact | None = None, artifacts: bool = False
    ) -> AbstractAsyncContextManager[Log]:
        kept = str(self._artifacts) if artifacts else None
        return connected(replace(self._settings, artifacts=kept), tenant=tenant, redact=redact)

    def away(self) -> AbstractAsyncContextManager[Log]:
        nowhere = "127.0.0.1:1"
        return connected(replace(self._settings, kafka=nowhere, redis=f"redis://{nowhere}"))

    async def time_passes(self, seconds: float) -> None:
        assert seconds < 1, "that is too long for a test"
        await asyncio.sleep(seconds)  # nothing but time is waited for

    def seen_later(self, log: Log, seconds: float) -> Log:
        servers = inside(log)

        def later() -> datetime:
            return servers.now() + timedelta(seconds=seconds)

        return Log(log.settings, servers=replace(servers, now=later))


class InMemory(Clients):
    """Clients of a log in memory."""

    def __init__(self) -> None:
        self._log = memory_log()

    @asynccontextmanager
    async def connected(
        self, *, tenant: str | None = None, redact: Redact | None = None, artifacts: bool = False
    ) -> AsyncGenerator[Log]:
        name = tenant or f"tenant-{uuid4().hex[:8]}"
        async with self._log.beside(tenant=name, redact=redact, artifacts=artifacts) as log:
            yield log

    @asynccontextmanager
    async def away(self) -> AsyncGenerator[Log]:
        async with self._log.beside(artifacts=False) as log:
            log.cut()
            yield log

    async def time_passes(self, seconds: float) -> None:
        self._log.clock.advance(seconds)

    def seen_later(self, log: Log, seconds: float) -> Log:
        assert isinstance(log, MemoryLog)
        log.clock.advance(seconds)
        return log
