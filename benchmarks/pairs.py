"""What something costs: the same work with and without it, in turn, since machines are noisy."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable

PAIRS = 30


def cost_percent(without: Callable[[], object], having: Callable[[], object]) -> float:
    """Return by how many percent more CPU `having` takes than `without`: the median of 30 pairs."""
    for work in (without, having):
        work()
    costs: list[float] = []
    for number in range(PAIRS):
        # Whoever is second finds the caches warm: each is as often first.
        if number % 2:
            base, more = _seconds(without), _seconds(having)
        else:
            more, base = _seconds(having), _seconds(without)
        costs.append(more / base - 1)
    return 100 * statistics.median(costs)


def _seconds(work: Callable[[], object]) -> float:
    gc.collect()
    began = time.process_time()
    work()
    return time.process_time() - began
