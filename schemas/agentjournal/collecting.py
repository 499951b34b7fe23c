"""Holding Python's cyclic collector back while many objects are made at once, all of them kept."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

_YOUNG = 1  # this generation, and the one before it
_lock = Lock()
_holders = 0
_was_on = False


@contextmanager
def not_collecting() -> Generator[None]:
    """Keep the collector off inside, in every thread: do no more than a stretch of plain work.

    It would run a dozen times for each thousand events, and find nothing. What was made inside is
    as old as can be afterwards: it would else be looked through once more, as if it were to go.
    """
    global _holders, _was_on  # noqa: PLW0603 - the collector is one for the process
    with _lock:
        if _holders == 0:
            _was_on = gc.isenabled()
            gc.disable()
            if _was_on:
                gc.collect(_YOUNG)  # else what is to go among it would become old as well
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0 and _was_on:
                if not gc.get_freeze_count():  # what the program has frozen stays so
                    gc.freeze()
                    gc.unfreeze()  # into the oldest generation, all at once
                gc.enable()
