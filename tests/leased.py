"""Lease events in the order in which a log takes them, whatever fence was drawn for them."""

from __future__ import annotations

from agentjournal.codec import decode, encode
from agentjournal.requests import NewEvent, Request
from streams.head import EMPTY
from streams.leases import Lease
from tests.support import Stream, event, request

_UNDER_A_LEASE = frozenset({"lease.renewed", "lease.released"})


def in_order(stream: Stream, made: NewEvent, *, leased: bool = False) -> Request:
    """Return a request for an event that the stream accepts next.

    What a lease event needs before it is accepted first. `leased`: written under the stream's
    lease, if it has one.
    """
    if made.type == "lease.acquired":
        if fence := _lease(stream).fence:
            stream.accept(request(event("lease.released", fence=fence), fence=fence))
        return request(_with_fence(made, (stream.head or EMPTY).version + 1))
    if made.type in _UNDER_A_LEASE:
        if not _lease(stream).fence:
            taken = event("lease.acquired", holder="w", fence=1, lease_s=60)
            stream.accept(in_order(stream, taken))
        fence = _lease(stream).fence
        return request(_with_fence(made, fence), fence=fence)
    return request(made, fence=_lease(stream).fence or None if leased else None)


def _lease(stream: Stream) -> Lease:
    return (stream.head or EMPTY).lease


def _with_fence(made: NewEvent, fence: int) -> NewEvent:
    return made._replace(data=encode({**decode(made.data), "fence": fence}))
