"""How a process ends: a signal gives the roles time to finish, a second one ends it at once."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
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
    cut_off_s: float = 2.5  # close connections after that: what is unsaved has been said
    overdue_s: float = 9.0  # from the signal on: the loop must be stuck


@contextmanager
def stopped_by_signals(
    stop: asyncio.Event, said: Callable[[], None], options: StopOptions
) -> Generator[None]:
    """Call `said` and set `stop` at SIGTERM or SIGINT; a second one ends the process at once.

    A process that still runs when its time is over ends by itself, with status 1.
    """
    loop = asyncio.get_running_loop()
    over = threading.Event()

    def stopping(_number: int, _frame: FrameType | None) -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        said()
        loop.call_soon_threadsafe(stop.set)
        threading.Thread(target=_end_when_overdue, args=(over, options), daemon=True).start()

    before = {number: signal.signal(number, stopping) for number in _SIGNALS}
    try:
        yield
    finally:
        over.set()
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_when_overdue(over: threading.Event, options: StopOptions) -> None:
    if not over.wait(options.overdue_s):
        _LOG.error("stop_overdue", reason="the event loop is stuck")
        sys.stderr.flush()
        os._exit(1)


async def ended(
    tasks: Iterable[asyncio.Task[None]],
    stop: asyncio.Event,
    unsaved: Callable[[str], Mapping[str, object]],
    options: StopOptions,
) -> bool:
    """Return once the tasks have ended, or were cut off because stopping took too long.

    The first that fails stops the others. `unsaved` gives what the log is to say of one that is cut
    off, by its name, before anything is given up. False: some did not end though they were cut off.
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
    _, stuck = await asyncio.wait(late, timeout=options.cut_off_s)
    for task in stuck:
        _LOG.warning("role_left", role=task.get_name(), reason="a server keeps it waiting")
    return not stuck


def has_failed(task: asyncio.Task[Any]) -> bool:
    """Whether a task that is done raised an error."""
    return not task.cancelled() and task.exception() is not None


async def _first_that_ends_it(
    running: set[asyncio.Task[None]], stopping: asyncio.Task[bool]
) -> None:
    """Return when asked to stop, when one has failed, or when all have ended."""
    waiting: set[asyncio.Task[None] | asyncio.Task[bool]] = {*running, stopping}
    while not stopping.done() and not running.isdisjoint(waiting):
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if any(task is not stopping and has_failed(task) for task in done):
            return
