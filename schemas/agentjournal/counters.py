"""Counters over the last so many seconds, for limits and displays: they may be lost at any time."""

from __future__ import annotations

import math
from typing import Protocol

from agentjournal.outgoing import checked_id

MOST = 2**53 - 1  # at once; what counts in Redis is exact up to here
_LEAST_S, _MOST_S = 0.1, 31_622_400.0


class Counters(Protocol):
    """Where counters are kept, by tenant, name and length of their window."""

    async def add(self, tenant: str, name: str, window_s: float, by: int) -> int:
        """Count `by`, which may be 0, and return what counts in the window. Raises Unavailable."""
        ...

    async def close(self) -> None: ...


class Counter:
    """Counts what happened in the last `window_s` seconds, in all processes of a tenant together.

    What is counted counts for at least that long, and for at most a sixtieth longer. It is kept in
    Redis only, so it may be lost: then it begins at 0. What must not be lost is an event.
    """

    def __init__(self, counters: Counters, tenant: str, name: str, window_s: float) -> None:
        """Raises AppendRejected for a name that is no id, ValueError for another window."""
        checked_id("name", name)
        if not (math.isfinite(window_s) and _LEAST_S <= window_s <= _MOST_S):
            raise ValueError(f"window_s={window_s} is not between {_LEAST_S:g} s and a year")
        self.name, self.window_s = name, window_s
        self._counters, self._tenant = counters, tenant

    async def incr(self, by: int = 1) -> int:
        """Count `by` more; return what counts now, this included.

        Raises ValueError when `by` is not between 1 and 2**53 - 1, Unavailable when Redis is away:
        whether it was counted is not known then.
        """
        if type(by) is not int or not 1 <= by <= MOST:
            raise ValueError(f"by={by!r} is not an integer between 1 and 2**53 - 1")
        return await self._counters.add(self._tenant, self.name, self.window_s, by)

    async def value(self) -> int:
        """Return what counts now. Raises Unavailable."""
        return await self._counters.add(self._tenant, self.name, self.window_s, 0)
