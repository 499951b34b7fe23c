"""A moving window: counts of the last so many seconds, by the time of what is counted."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

PARTS = 20  # what is counted counts for the window, and for at most this part of it longer

Counted: TypeAlias = str | int  # a name; a number is a class of durations


class Window:
    """Counts that are forgotten once they are older than the window.

    What is counted may come in any order of time. However long the meter is behind, and however
    long nobody looks, a window has no more than a few parts.
    """

    __slots__ = ("_part_ms", "_parts")

    def __init__(self, window_s: float) -> None:
        self._part_ms = max(1, round(window_s * 1_000 / PARTS))
        self._parts: dict[int, dict[Counted, int]] = {}

    def add(self, at_ms: int, what: Counted, by: int = 1) -> None:
        """Count `by` more, as of a time."""
        number = at_ms // self._part_ms
        part = self._parts.get(number)
        if part is None:
            part = self._parts[number] = {}
            if len(self._parts) > 2 * PARTS:
                del self._parts[min(self._parts)]
        part[what] = part.get(what, 0) + by

    def sums(self, now_ms: int) -> Counter[Counted]:
        """Return what counts now, and forget what does not any more."""
        first = now_ms // self._part_ms - PARTS
        for number in [number for number in self._parts if number < first]:
            del self._parts[number]
        sums: Counter[Counted] = Counter()
        for part in self._parts.values():
            for what, count in part.items():
                sums[what] += count
        return sums
