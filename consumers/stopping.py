"""How a process ends: a signal gives the roles time to finish, a second one ends it at once."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import structlog

_LOG = structlog.get_logger()
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, slots=True)
class StopOptions:
    """How long a process may take to end, together below the 10 s that are promised."""

    finish_s: float = 5.0  # finish the batch, save, give the partitions up
    cut_off_s: float = 2.0  # close connections after that: what is unsaved has been said
    overdue_s: float = 9.0  # from the signal on


@contextmanager
def stopped_by_signals(
    stop: asyncio.Event, said: Callable[[], None], options: StopOptions
) -> Generator[None]:
    """Call `said` and set `stop` at SIGTERM or SIGINT; a second one ends the process at once.

    A process that still runs when its time is over ends by itself, with status 1: its loop must be
    stuck, or what is left of it waits for a server.
    """
    loop = asyncio.get_running_loop()

    def stopping(_number: int, _frame: FrameType | None) -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        said()
        loop.call_soon_threadsafe(stop.set)
        overdue = threading.Timer(options.overdue_s, _end_overdue)
        overdue.daemon = True
        overdue.start()

    before = {number: signal.signal(number, stopping) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_overdue() -> None:
    _LOG.error("stop_overdue")
    os._exit(1)


async def pause(seconds: float, stop: asyncio.Event) -> None:
    """Wait so long, or until `stop` is set."""
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return


async def ended(
    tasks: Iterable[asyncio.Task[None]],
    stop: asyncio.Event,
    unsaved: Callable[[str], Mapping[str, object]],
    options: StopOptions,
) -> bool:
    """Return once the tasks have ended; False when some were cut off since it took too long.

    The first that fails stops the others. `unsaved` gives what the log is to say of one that is cut
    off, by its name, before anything is given up. It then has a moment to close its connections.
    """
    running = set(tasks)
    stopping = asyncio.create_task(stop.wait())
    try:
        await _first_that_ends_it(running, stopping)
    finally:
        stopping.cancel()
    stop.set()
    _, late = await asyncio.wait(running, timeout=options.finish_s)
    if not late:
        return True
    for task in late:
        name = task.get_name()
        _LOG.warning("role_cut_off", role=name, after_s=options.finish_s, **unsaved(name))
        task.cancel()
    await asyncio.wait(late, timeout=options.cut_off_s)
    return False


def has_failed(task: asyncio.Task[Any]) -> bool:
    """Whether a task raised an error."""
    return task.done() and not task.cancelled() and task.exception() is not None


async def _first_that_ends_it(
    running: set[asyncio.Task[None]], stopping: asyncio.Task[bool]
) -> None:
    """Return when asked to stop, when one has failed, or when all have ended."""
    waiting: set[asyncio.Task[None] | asyncio.Task[bool]] = {*running, stopping}
    while not stopping.done() and not running.isdisjoint(waiting):
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if any(task is not stopping and has_failed(task) for task in done):
            return
