"""Leases in the fold: who may write to a stream, and until when nobody else may take it.

The broker's clock decides who may take a lease, the fence who may write: a lease that has passed
holds on until another one is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from agentjournal.envelope import iso_time
from agentjournal.ids import Milliseconds, Version
from agentjournal.receipts import Refusal

_FAR_MS = 253_402_300_799_999  # the end of the year 9999: what a lease lasts at most


class Lease(NamedTuple):
    """The lease of a stream; without a fence there is none.

    `until_ms` is by the broker's clock, `length_ms` how far each write under the fence extends it.
    """

    fence: int = 0
    until_ms: int = 0
    length_ms: int = 0
    holder: str = ""

    def is_live(self, at_ms: Milliseconds) -> bool:
        """Whether nobody else may take the stream at that moment."""
        return self.fence != 0 and at_ms < self.until_ms


NO_LEASE = Lease()


def check_fence(lease: Lease, fence: int | None) -> Refusal | None:
    """Return why a request with this fence may not write, or None."""
    if fence is None or (fence and fence == lease.fence):
        return None
    return Refusal("lease_lost")


def check_lease_events(
    lease: Lease,
    fence: int | None,
    events: Sequence[tuple[str, dict[str, Any]]],
    at_ms: Milliseconds,
) -> Refusal | None:
    """Return why the lease events among `events`, (type, data) each, may not be, or None.

    `fence` is the request's own. A lease is taken by the first event of an append, and only when no
    other is live; it is renewed and released under its own fence.
    """
    for index, (event_type, body) in enumerate(events):
        place = f"events[{index}]"
        if event_type == "lease.acquired":
            if index:
                return Refusal("rejected", f"{place}.type", "is not the first event of its append")
            if fence is not None:
                return Refusal("rejected", "fence", "is given where a lease is taken")
            if lease.is_live(at_ms):
                until = iso_time(Milliseconds(lease.until_ms))
                return Refusal("lease_held", lease.holder, until, Version(lease.fence))
        elif event_type in _UNDER_FENCE and body["fence"] != fence:
            reason = "is not the fence that this append is written under"
            return Refusal("rejected", f"{place}.data.fence", reason)
    return None


def lease_after(
    lease: Lease,
    fence: int | None,
    events: Sequence[tuple[str, dict[str, Any]]],
    at_ms: Milliseconds,
) -> Lease:
    """Return the lease once an append is in the stream; only its lease events need to be given."""
    if fence is not None:
        lease = lease._replace(until_ms=max(lease.until_ms, _later(at_ms, lease.length_ms)))
    for event_type, body in events:
        if event_type == "lease.acquired":
            length_ms = min(_FAR_MS, round(body["lease_s"] * 1_000))
            until_ms = _later(at_ms, length_ms)
            lease = Lease(body["fence"], until_ms, length_ms, body["holder"])
        elif event_type == "lease.released":
            lease = NO_LEASE
    return lease


_UNDER_FENCE = frozenset({"lease.renewed", "lease.released"})


def _later(at_ms: int, length_ms: int) -> int:
    return min(_FAR_MS, at_ms + length_ms)
