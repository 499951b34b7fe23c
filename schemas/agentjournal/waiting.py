"""Waiting until read models show what a read needs."""

from __future__ import annotations

from collections.abc import Sequence

from agentjournal.ports import Views
from agentjournal.working_memory import Needed


async def wait_until(
    views: Views, needed: Needed, projections: Sequence[str], timeout_s: float
) -> None:
    """Return once projections show what is needed. Raises NotCaughtUp, StreamParked."""
    if needed.receipt is not None:
        await views.wait_for_input(needed.receipt, timeout_s, projections=projections)
    else:
        place = needed.partition, needed.next_position
        await views.wait_for_output(*place, timeout_s, projections=projections)
