"""The clock of a log in memory: it stands still until it is moved."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from agentjournal.ids import Milliseconds

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class Clock:
    """The broker's clock and the readers'. Each append takes a millisecond, nothing else does."""

    def __init__(self, at: datetime | None = None) -> None:
        """`at` is where it begins: by default now. Raises ValueError for one without a zone."""
        begun = datetime.now(UTC) if at is None else at
        if begun.utcoffset() is None:
            raise ValueError(f"at={begun} has no zone: use one, like datetime.now(UTC)")
        self._ms = (begun - _EPOCH) // _MILLISECOND

    def now(self) -> datetime:
        """Return the time, in UTC."""
        return _EPOCH + self._ms * _MILLISECOND

    def advance(self, seconds: float) -> None:
        """Let time pass. Raises ValueError for a time below 0."""
        if not seconds >= 0:
            raise ValueError(f"seconds={seconds} is not a time of at least 0 s")
        self._ms += round(seconds * 1_000)

    def advance_to(self, ms: int) -> None:
        """Let time pass until `ms` milliseconds since the epoch, if that is not past already."""
        self._ms = max(self._ms, ms)

    def monotonic(self) -> float:
        """Return the time in seconds since some moment, for differences."""
        return self._ms / 1_000

    async def sleep(self, seconds: float) -> None:
        """Let time pass without waiting for it; others get their turn."""
        await asyncio.sleep(0)
        self.advance(seconds)
        await asyncio.sleep(0)

    def tick(self) -> Milliseconds:
        """Let a millisecond pass; return the time in milliseconds since the epoch."""
        self._ms += 1
        return Milliseconds(self._ms)

    def __repr__(self) -> str:
        return f"<Clock at {self.now().isoformat()}>"
