"""A process that kills itself at its n-th await: what it had in memory is gone."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine, Generator
from typing import Any

from agentjournal import finishing


class KillPoints:
    """Counts the awaits of an agent and of its calls, and kills the process at one of them."""

    def __init__(self, kill_at: int | None) -> None:
        self.count = 0
        self._kill_at = kill_at

    def passed(self) -> None:
        """Count an await that waits."""
        self.count += 1
        if self.count == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def run(self, main: Coroutine[Any, Any, None]) -> None:
        """Run an agent to its end, unless it is killed."""

        async def counted() -> None:
            asyncio.get_running_loop().set_task_factory(self._task)
            await asyncio.create_task(_Counted(main, self))

        asyncio.run(counted())

    def _task(
        self, loop: asyncio.AbstractEventLoop, coro: Any, **options: Any
    ) -> asyncio.Task[Any]:
        # Those in which a run calls its tools; not what keeps connections.
        code = getattr(coro, "cr_code", None)
        is_counted = code is not None and code.co_filename == finishing.__file__
        return asyncio.Task(_Counted(coro, self) if is_counted else coro, loop=loop, **options)


class _Counted(Coroutine[Any, Any, Any]):
    """A coroutine that tells each time it waits."""

    def __init__(self, inner: Coroutine[Any, Any, Any], points: KillPoints) -> None:
        self._inner, self._points = inner, points

    def send(self, value: Any) -> Any:
        waited_for = self._inner.send(value)
        self._points.passed()
        return waited_for

    def throw(self, *error: Any) -> Any:
        waited_for = self._inner.throw(*error)
        self._points.passed()
        return waited_for

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._inner.__await__()
