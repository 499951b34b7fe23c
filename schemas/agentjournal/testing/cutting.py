"""Killing an agent in the middle: all of its tasks stop at one await, and nothing more of it runs.

Its coroutines are driven one step at a time. From the step that the kill is at none is resumed: no
`finally`, no `except` and no `async with` of it runs on, as after `kill -9`.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import sysconfig
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar, copy_context
from pathlib import Path
from types import FrameType
from typing import Any

from agentjournal.testing.memory_log import MemoryLog

_CUT: ContextVar[Cut | None] = ContextVar("agentjournal_cut", default=None)
_MOST_CLOSINGS = 100  # awaits in `finally` that a coroutine may have on its way out
_OURS = str(Path(__file__).parents[1])
_LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))


class Cut:
    """One life of an agent: counts its awaits, and ends it at one of them."""

    def __init__(self, log: MemoryLog, at: int | None = None, *, landed: int = 0) -> None:
        """The agent dies at its await number `at`, from 1.

        Of the appends that are on their way then the first `landed` reach the log.
        """
        self.log, self.at, self.landed = log, at, landed
        self.awaits = 0
        self.place = ""  # where it was killed; empty: it was not
        self.on_their_way = 0  # appends, at that moment
        self._context = copy_context()
        self._killed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tasks: list[asyncio.Future[Any]] = []
        self._lives: list[_Life] = []

    @property
    def is_over(self) -> bool:
        """Whether the agent was killed."""
        return bool(self.place)

    async def run(self, main: Callable[[MemoryLog], Coroutine[Any, Any, Any]]) -> None:
        """Run an agent to its end, or to its death. Raises what it raises."""
        self._context.run(_CUT.set, self)
        task = self._context.run(asyncio.get_running_loop().create_task, main(self.log))
        await asyncio.wait({task, self._killed}, return_when=asyncio.FIRST_COMPLETED)
        if self.is_over:
            await self._stop()
            return
        try:
            task.result()
        finally:
            await self._stop()
            await self.log.close()

    def watch(self, coroutine: Coroutine[Any, Any, Any]) -> _Life:
        """Return a coroutine of the agent under watch."""
        life = _Life(coroutine, self)
        self._lives.append(life)
        return life

    def started(self, task: asyncio.Future[Any]) -> None:
        """Take a task of the agent."""
        self._tasks.append(task)

    def suspended(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Count an await, and end everything if it is the one."""
        self.awaits += 1
        if self.awaits == self.at:
            self.place = place_of(coroutine)
            self.on_their_way = self.log.on_their_way
            self.log.cut(landed=self.landed)
            self._killed.set_result(None)

    def bury(self) -> None:
        """Let go of what is left of the agent, once nobody looks at what it does any more."""
        for life in self._lives:
            self._context.run(life.end)
        for task in self._tasks:
            task.cancel()

    async def _stop(self) -> None:
        """End the tasks that are left: those of a dead agent do not run on."""
        left = [task for task in self._tasks if not task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)


class _Life(Coroutine[Any, Any, Any]):
    """A coroutine of an agent, for as long as the agent lives."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], cut: Cut) -> None:
        self._coroutine, self._cut = coroutine, cut
        self.__name__ = getattr(coroutine, "__name__", "coroutine")
        self.__qualname__ = getattr(coroutine, "__qualname__", "coroutine")

    def send(self, value: Any) -> Any:
        """Go on to the next await."""
        if self._cut.is_over:
            return next(iter(asyncio.get_running_loop().create_future()))  # for ever
        waits_for = self._coroutine.send(value)
        self._cut.suspended(self._coroutine)
        return waits_for

    def throw(self, *error: Any) -> Any:
        """Go on with an error."""
        if self._cut.is_over:
            raise error[0]
        waits_for = self._coroutine.throw(*error)
        self._cut.suspended(self._coroutine)
        return waits_for

    def close(self) -> None:
        """End the coroutine, unless its agent is dead."""
        if not self._cut.is_over:
            self._coroutine.close()

    def end(self) -> None:
        """End what is left of the coroutine, whatever it does on its way out."""
        for _ in range(_MOST_CLOSINGS):
            if inspect.getcoroutinestate(self._coroutine) == inspect.CORO_CLOSED:
                return
            with contextlib.suppress(BaseException):
                self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._coroutine.__await__()

    def __getattr__(self, name: str) -> Any:
        """Be looked at as the coroutine itself: libraries ask a task's for its state."""
        return getattr(self._coroutine, name)


@contextlib.contextmanager
def tasks_under_watch() -> Generator[None]:
    """Let every task that an agent starts in this loop be watched."""
    loop = asyncio.get_running_loop()
    before: Any = loop.get_task_factory()

    def factory(
        loop: asyncio.AbstractEventLoop, coroutine: Any, **more: Any
    ) -> asyncio.Future[Any]:
        cut = _CUT.get()
        if cut is not None:
            coroutine = cut.watch(coroutine)
        task = (before or _new_task)(loop, coroutine, **more)
        if cut is not None:
            cut.started(task)
        return task

    loop.set_task_factory(factory)
    try:
        with _threads_between_awaits(loop):
            yield
    finally:
        loop.set_task_factory(before)


@contextlib.contextmanager
def _threads_between_awaits(loop: Any) -> Generator[None]:
    """Let what an agent does in threads happen at one await: a thread would outlive the agent."""
    in_thread: Callable[..., asyncio.Future[Any]] = loop.run_in_executor

    def at_once(executor: Any, function: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        if _CUT.get() is None:
            return in_thread(executor, function, *args)
        future: asyncio.Future[Any] = loop.create_future()
        try:
            settle, with_what = future.set_result, function(*args)
        except Exception as error:  # noqa: BLE001 - for whoever waits
            settle, with_what = future.set_exception, error
        loop.call_soon(lambda: None if future.done() else settle(with_what))
        return future

    try:
        loop.run_in_executor = at_once
    except AttributeError:  # a loop that is not written in Python keeps its threads
        yield
        return
    try:
        yield
    finally:
        del loop.run_in_executor


def _new_task(
    loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any], **more: Any
) -> asyncio.Task[Any]:
    return asyncio.Task(coroutine, loop=loop, **more)


def place_of(coroutine: Any) -> str:
    """Return where a suspended coroutine waits, `file:line in function`: in the user's own code."""
    frames: list[FrameType] = []
    while coroutine is not None:
        frame = _first(coroutine, "cr_frame", "gi_frame", "ag_frame")
        if frame is not None:
            frames.append(frame)
        coroutine = _first(coroutine, "cr_await", "gi_yieldfrom", "ag_await")
    near = [f for f in frames if not f.f_code.co_filename.startswith(_LIBRARIES)]
    own = [f for f in frames if f.f_code.co_filename.startswith(_OURS)]
    users = [f for f in near if f not in own]
    for frame in (users or own or frames)[-1:]:
        file = Path(frame.f_code.co_filename)
        shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
        return f"{shown}:{frame.f_lineno} in {frame.f_code.co_name}"
    return "an await of no known place"


def _first(of: Any, *names: str) -> Any:
    found = (getattr(of, name, None) for name in names)
    return next((each for each in found if each is not None), None)
