"""Calling the handler of a service with one event: in time, with errors that say what they are."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, TypeAlias

from agentjournal.artifacts import Artifacts
from agentjournal.envelope import Recorded
from agentjournal.offloading import whole

Handler: TypeAlias = Callable[[Recorded], Awaitable[object]]


class NotAsyncError(TypeError):
    """A handler that gave nothing to wait for. It is wrong for every event: the service ends."""

    def __init__(self, handler: object, returned: object) -> None:
        name = getattr(handler, "__qualname__", type(handler).__qualname__)
        super().__init__(
            f"the handler {name} returned a {type(returned).__name__}, which cannot be awaited: "
            "write it with `async def`"
        )


async def call(
    handler: Handler, recorded: Recorded, artifacts: Artifacts | None, timeout_s: float
) -> None:
    """Handle an event, made whole. Raises TimeoutError, NotAsyncError, what the handler raises.

    What was cancelled within the handler is an error of its own, as any other.
    """
    limit = asyncio.timeout(timeout_s)
    try:
        async with limit:
            work: Any = handler(await whole(recorded, artifacts))
            if not isawaitable(work):
                raise NotAsyncError(handler, work)
            await work
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise TimeoutError(f"no end within {timeout_s:g} s") from error
    except asyncio.CancelledError as error:
        if (task := asyncio.current_task()) is None or task.cancelling():
            raise
        raise RuntimeError("what the handler waited for was cancelled") from error
