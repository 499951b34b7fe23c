"""Holding Python's cyclic collector back where it stops a process and would find nothing."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

# Old objects are looked at once for so many looks at young ones, ten times as seldom as by default:
# what a role keeps is a cache, of which a pass takes as long as it is large, and finds nothing.
_OLD_EVERY = 100

_lock = Lock()
_holders = 0
_was_on = False


def freeze_loaded() -> None:
    """Keep the collector for good from what is loaded by now: call it once, before a server serves.

    A pass over all modules stops the process for 60 ms and more, and finds nothing each time. It
    is for the whole process: one that this package runs, and never an agent's.
    """
    gc.collect()
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _OLD_EVERY)


@contextmanager
def not_collecting() -> Generator[None]:
    """Keep the collector off inside, in every thread: do no more than a stretch of plain work.

    It would run a dozen times for each thousand events, and find nothing.
    """
    global _holders, _was_on  # noqa: PLW0603 - the collector is one for the process
    with _lock:
        if _holders == 0:
            _was_on = gc.isenabled()
            gc.disable()
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders = max(0, _holders - 1)  # 0 already behind a fork
            if _holders == 0 and _was_on:
                gc.enable()


def _begin_anew() -> None:
    """Let a process that is forked off collect: what held it back is in the other one."""
    global _lock, _holders
    if _holders and _was_on:
        gc.enable()
    _lock, _holders = Lock(), 0


os.register_at_fork(after_in_child=_begin_anew)
