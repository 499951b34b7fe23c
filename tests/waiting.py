"""Waiting for a condition, with a deadline, instead of sleeping."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

POLL_S = 0.05


def awaited(look: Callable[[], T], *, timeout_s: float = 10.0) -> T:
    """Return the first true value that `look` gives. Raises TimeoutError."""
    deadline = time.monotonic() + timeout_s
    while not (found := look()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{look} gave {found!r} for {timeout_s:g} s")
        time.sleep(POLL_S)
    return found
