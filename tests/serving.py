"""Services that note what they handled, and fail as they are told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from agentjournal import Log, Parked, Recorded, Retry, Service
from tests.servers import eventually
from tests.subscriber import group, texts

AT_ONCE = Retry(max_attempts=3, backoff_s=[0.01])


class Broken(Exception):
    """What a handler fails with."""


class Handler:
    """Takes events, and fails for those whose text is in `broken`."""

    def __init__(self) -> None:
        self.handled: list[Recorded] = []
        self.tried: list[Recorded] = []
        self.broken: set[str] = set()
        self.hangs: set[str] = set()

    async def __call__(self, recorded: Recorded) -> None:
        self.tried.append(recorded)
        for text in texts([recorded]):
            if text in self.hangs:
                await asyncio.Event().wait()
            if text in self.broken:
                raise Broken(f"not {text}")
        self.handled.append(recorded)

    def texts(self, session: str | None = None) -> list[str]:
        """Return the texts that were handled, of all sessions or one."""
        return texts(
            [e for e in self.handled if session is None or e.stream.endswith(f"/{session}")]
        )

    async def has(self, count: int) -> list[str]:
        """Return the texts once so many were handled."""
        await eventually(lambda: len(self.texts()) >= count, timeout_s=20)
        return self.texts()


def service_of(log: Log, name: str | None = None, **more: Any) -> Service:
    """Return a service of the messages of this log's tenant that fails quickly."""
    terms: dict[str, Any] = {
        "types": ["message.added"],
        "tenants": [log.settings.tenant],
        "retry": AT_ONCE,
    }
    return log.service(name or group(), **(terms | more))


@asynccontextmanager
async def run(service: Service, handler: Any) -> AsyncGenerator[None]:
    """Run a service until the end of the block; raise what it raises."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(service.run(handler, stop_s=5))
        try:
            yield
        finally:
            service.stop()


async def until(
    service: Service, is_so: Callable[[list[Parked]], bool], *, timeout_s: float = 20
) -> None:
    """Return once what is parked is as it should be."""
    async with asyncio.timeout(timeout_s):
        while not is_so(await service.parked()):  # noqa: ASYNC110 - another process tells nobody
            await asyncio.sleep(0.02)


async def eventually_parked(service: Service, count: int) -> None:
    await until(service, lambda found: len(found) == count)
