"""How long to wait before a dead child is started again."""

from __future__ import annotations

FIRST_S = 0.2
LONGEST_S = 10.0
HEALTHY_S = 30.0  # a child that lived this long starts again at the shortest wait


class Backoff:
    """Waits that double from 0.2 s to 10 s, and start anew after 30 s of health."""

    def __init__(self) -> None:
        self._next_s = FIRST_S

    def after(self, lived_s: float) -> float:
        """Return the seconds to wait after a child that lived `lived_s`."""
        if lived_s >= HEALTHY_S:
            self._next_s = FIRST_S
        wait_s, self._next_s = self._next_s, min(self._next_s * 2, LONGEST_S)
        return wait_s
