"""Subscribers, and what they have seen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

from agentjournal import Log, Recorded
from tests.servers import eventually


class Subscriber:
    """Takes events as they come, each handled at once."""

    def __init__(self, log: Log, group: str, **more: Any) -> None:
        self.seen: list[Recorded] = []
        self._events = log.subscribe(group=group, **more)
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for recorded in self._events:
            self.seen.append(recorded)

    async def has(self, count: int) -> list[Recorded]:
        """Return what was seen once it is so many events; raise what stopped it."""

        def look() -> bool:
            if self._task.done():
                self._task.result()
            return len(self.seen) >= count

        await eventually(look, timeout_s=20)
        return list(self.seen)

    async def leave(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        closing: Any = self._events
        await closing.aclose()


def group() -> str:
    return f"group-{uuid4().hex[:8]}"


def texts(events: list[Recorded]) -> list[str]:
    return [e.data["parts"][0]["text"] for e in events if e.type == "message.added"]


async def taken(events: AsyncIterator[Recorded], count: int) -> list[Recorded]:
    """Return the next events; the last one is not acknowledged."""
    found: list[Recorded] = []
    async with asyncio.timeout(20):
        while len(found) < count:
            found.append(await anext(events))
    return found


async def left(events: AsyncIterator[Recorded]) -> None:
    closing: Any = events
    await closing.aclose()
