"""How sure a share is: Wilson's interval, and a bootstrap that keeps conversations whole."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

NORMAL_95 = 1.959963984540054


class Share(NamedTuple):
    """How many of how many."""

    hits: int
    total: int

    @property
    def value(self) -> float | None:
        """The share, or None where there was nothing to count."""
        return self.hits / self.total if self.total else None

    def plus(self, other: Share) -> Share:
        """Return both counted together."""
        return Share(self.hits + other.hits, self.total + other.total)


class Interval(NamedTuple):
    """The bounds between which a share lies in 95 of 100 repetitions."""

    low: float
    high: float


def wilson(share: Share, z: float = NORMAL_95) -> Interval | None:
    """Return Wilson's score interval, which holds near 0 and 1 too; None for nothing.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    JASA 22 (1927).
    """
    if (value := share.value) is None:
        return None
    n = share.total
    middle = value + z * z / (2 * n)
    half = z * math.sqrt(value * (1 - value) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At 0 and at 1 rounding could leave the share outside.
    return Interval(
        max(0.0, min(value, (middle - half) / scale)),
        min(1.0, max(value, (middle + half) / scale)),
    )


def clustered(shares: Sequence[Share], *, rounds: int = 1_000, seed: int = 7) -> Interval | None:
    """Return the interval of the pooled share when whole conversations are drawn again.

    Facts of one conversation stand or fall together, so drawing single facts would look surer
    than it is. The same shares give the same interval.
    """
    counted = [share for share in shares if share.total]
    if not counted:
        return None
    chance = random.Random(seed)  # noqa: S311 - a bootstrap, no secret
    drawn: list[float] = []
    for _ in range(rounds):
        sample = chance.choices(counted, k=len(counted))
        drawn.append(sum(each.hits for each in sample) / sum(each.total for each in sample))
    drawn.sort()
    return Interval(drawn[int(0.025 * rounds)], drawn[min(rounds - 1, int(0.975 * rounds))])
