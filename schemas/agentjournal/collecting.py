"""Holding Python's cyclic collector back while many objects are made at once, all of them kept."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()
_holders = 0
_was_on = False


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
