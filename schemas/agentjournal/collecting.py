"""Holding Python's cyclic collector back while many objects are made at once, all of them kept."""

from __future__ import annotations

import gc
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
            _holders -= 1
            if _holders == 0 and _was_on:
                gc.enable()
