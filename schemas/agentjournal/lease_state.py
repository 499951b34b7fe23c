"""Who holds a session or a task: what the events of its leases come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agentjournal.events import LeaseAcquired, LeaseReleased
from agentjournal.stored import Foldable


@dataclass(frozen=True, slots=True)
class SessionLease:
    """The lease that was taken last, and not released since. It may have passed."""

    fence: int
    holder: str
    lease_s: float
    acquired_at: str  # the broker's clock
    quiet_since: str
    """The broker's time of the event before: with its own length, the lease before had passed."""
    previous_s: float  # the length of the lease before; 0: there was none


class Held(Protocol):
    """The state of a stream that workers take."""

    lease: SessionLease | None
    last: Foldable | None  # the event before


def lease_acquired(state: Held, event: LeaseAcquired, recorded: Foldable) -> None:
    """Note who holds it now."""
    held, last = state.lease, state.last
    at = recorded.recorded_at
    state.lease = SessionLease(
        event.fence,
        event.holder,
        event.lease_s,
        at,
        at if last is None else last.recorded_at,
        0.0 if held is None else held.lease_s,
    )


def lease_released(state: Held, event: LeaseReleased, _: Foldable) -> None:
    """Note that nobody does, unless another took it meanwhile."""
    if state.lease is not None and state.lease.fence == event.fence:
        state.lease = None
