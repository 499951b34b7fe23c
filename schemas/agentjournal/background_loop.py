"""An event loop for callers without asyncio: one in a process, in a thread of its own."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar

from agentjournal.errors import ConnectedBeforeFork

T = TypeVar("T")

_MOST_THREADS = 1_000
_LONGEST_WAIT_S = 1.0
_CLOSING_S = 5.0  # how long what is still open may take to close when the process ends


class Closing(Protocol):
    """What is closed when the process ends."""

    async def close(self) -> None: ...


class BackgroundLoop:
    """A loop in a thread. Whoever calls `run` waits for it; any number of threads may."""

    def __init__(self) -> None:
        self.pid = os.getpid()  # of the process that it runs in
        self._open: weakref.WeakSet[Closing] = weakref.WeakSet()
        self._loop = asyncio.new_event_loop()
        # The caller's functions run in these, and each may wait as long as it wants.
        self._loop.set_default_executor(
            concurrent.futures.ThreadPoolExecutor(_MOST_THREADS, "agentjournal")
        )
        self._is_over = False
        self._kept: list[Closing] = []
        self._thread = threading.Thread(target=self._serve, name="agentjournal", daemon=True)
        self._thread.start()

    @property
    def is_here(self) -> bool:
        """Whether the caller runs on the loop itself, where it cannot wait for it."""
        return threading.get_ident() == self._thread.ident

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return what `work` comes to on the loop, in the caller's context.

        A caller that is interrupted while it waits cancels it, and waits until it has ended.
        Raises what it raises, ConnectedBeforeFork in a child of the process that made the loop.
        """
        self._refuse()
        return _Job(work).outcome(self._loop)

    def leave(self, close: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Close something that nobody iterates over any more: at once, or soon if it must be."""
        if self.pid != os.getpid() or self._is_over:
            return
        if self.is_here:  # the garbage collector runs in any thread
            closing = self._loop.create_task(close())
            closing.add_done_callback(lambda done: done.cancelled() or done.exception())
        else:
            self.run(close)

    def close_at_exit(self, opened: Closing) -> None:
        """Close something when the process ends, if it is in use until then."""
        self._open.add(opened)

    def keep(self) -> None:
        """Keep what is open for ever, in a child of the process that opened it.

        Were it collected, it would close sockets and loops that are the parent's too.
        """
        self._kept = list(self._open)

    def stop(self) -> None:
        """Close what is open, and stop."""
        if self.pid != os.getpid() or self._is_over:
            return
        with contextlib.suppress(Exception):
            self.run(self._close_all)
        self._is_over = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSING_S)
        if not self._thread.is_alive():
            self._loop.close()

    async def _close_all(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_S):
                closing = [each.close() for each in self._open]
                await asyncio.gather(*closing, return_exceptions=True)
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._loop.shutdown_asyncgens()

    def _refuse(self) -> None:
        if self.pid != os.getpid():
            raise ConnectedBeforeFork
        if self._is_over:
            raise RuntimeError("the process ends, and agentjournal.sync has ended")
        if self.is_here:
            raise RuntimeError(
                "agentjournal.sync was called in a function that its own event loop runs, which "
                "would wait for itself: such a function only works on what it is given"
            )

    def _serve(self) -> None:
        while not self._is_over:
            # A function of the user's that exits, as asyncio has it, stops the loop: go on.
            with contextlib.suppress(SystemExit, KeyboardInterrupt):
                self._loop.run_forever()
                return


class _Job(Generic[T]):
    """Something that a thread waits for while the loop does it."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._work = work
        self._task: asyncio.Task[None] | None = None
        self._ended = threading.Event()
        self._result: list[T] = []
        self._error: BaseException | None = None

    def outcome(self, loop: asyncio.AbstractEventLoop) -> T:
        """Have it done and wait for it, in the caller's thread."""
        try:
            loop.call_soon_threadsafe(self._start, loop)  # in a copy of the caller's context
            self._wait()
        except BaseException:  # it is the caller who is interrupted
            loop.call_soon_threadsafe(self._cancel)
            self._wait()
            raise
        if (error := self._error) is None:
            return self._result[0]
        self._error = None
        try:
            raise error
        finally:
            del error  # or it would hold, by its traceback, itself

    def _wait(self) -> None:
        # A signal that comes just before a wait is only seen behind it: so none is for ever.
        while not self._ended.wait(_LONGEST_WAIT_S):
            pass

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._task = loop.create_task(self._carry_out())
        self._task.add_done_callback(self._end)

    async def _carry_out(self) -> None:
        try:
            self._result.append(await self._work())
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - it is the caller's to see
            self._error = error

    def _end(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            self._error = concurrent.futures.CancelledError()
        self._ended.set()

    def _cancel(self) -> None:
        if self._task is None:
            self._ended.set()  # it was interrupted before it asked for anything
        else:
            self._task.cancel()


_lock = threading.Lock()
_loops: list[BackgroundLoop] = []  # the last is this process's; those of parents are never touched


def background_loop() -> BackgroundLoop:
    """Return the loop of this process; the first call starts it."""
    with _lock:
        if not _loops or _loops[-1].pid != os.getpid():
            _loops.append(BackgroundLoop())
            if len(_loops) == 1:
                atexit.register(_stop)
        return _loops[-1]


def _stop() -> None:
    if _loops:
        _loops[-1].stop()


def _after_fork() -> None:
    global _lock  # noqa: PLW0603 - another thread may have held it, which is not here
    _lock = threading.Lock()
    for loop in _loops[-1:]:
        loop.keep()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
