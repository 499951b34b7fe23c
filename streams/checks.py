"""What a request is held against: the head of its stream, in the order that the rules fix."""

from __future__ import annotations

from typing import Any

from agentjournal.ids import Milliseconds
from agentjournal.receipts import Refusal
from agentjournal.requests import Request
from streams.head import Head, user_digest
from streams.leases import check_fence, check_lease_events
from streams.lifetime import check_idle


class RefusedError(Exception):
    """The request is refused, and nothing of it recorded."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal


def check_head(
    head: Head, request: Request, parsed: list[dict[str, Any]], at_ms: Milliseconds
) -> None:
    """Raise RefusedError when the stream, as it is, does not take the request.

    `parsed` is the data of every event, that of the request's start first where it has one.
    """
    if head.status == "deleted":
        raise RefusedError(Refusal("deleted"))
    if request.start is not None and head.version:
        user = user_digest(parsed[0].get("user"))
        if user and head.user and user != head.user:
            raise RefusedError(Refusal("mismatch"))
    if (lost := check_fence(head.lease, request.fence)) is not None:
        raise RefusedError(lost)
    expected = request.expected_version
    if expected is not None and expected != head.version:
        raise RefusedError(Refusal("conflict", version=head.version))
    _check_leases(head, request, parsed, at_ms)
    for index, event in enumerate(request.events):
        if event.type == "session.started" and (head.version or index):
            reason = "the session has begun already"
            raise RefusedError(Refusal("rejected", f"events[{index}].type", reason))
        if event.type == "session.expired":
            _check_expiry(head, request, index, typed(request, parsed)[index][1], at_ms)


def _check_leases(
    head: Head, request: Request, parsed: list[dict[str, Any]], at_ms: Milliseconds
) -> None:
    if not any(event.type.startswith("lease.") for event in request.events):
        return
    mine = typed(request, parsed)
    if (wrong := check_lease_events(head.lease, request.fence, mine, at_ms)) is not None:
        raise RefusedError(wrong)
    event_type, body = mine[0]
    if event_type == "lease.acquired":
        is_begun = request.start is not None and not head.version
        if body["fence"] != head.version + 1 + is_begun:
            raise RefusedError(Refusal("conflict", version=head.version))


def _check_expiry(
    head: Head, request: Request, index: int, body: dict[str, Any], at_ms: Milliseconds
) -> None:
    """Raise RefusedError when the session is not idle: then whatever keeps it busy has won."""
    place = f"events[{index}]"
    if request.expected_version is None:
        reason = "is missing: a session expires at the version at which it was found idle"
        raise RefusedError(Refusal("rejected", "expectedversion", reason))
    if not head.version or head.status != "open":
        reason = "the session is not open"
        raise RefusedError(Refusal("not_idle", f"{place}.type", reason))
    if head.lease.is_live(at_ms):
        reason = "a worker has the session's lease"
        raise RefusedError(Refusal("not_idle", f"{place}.type", reason))
    busy = check_idle(head.lifetime, body["idle_s"], head.last_activity_ms, at_ms)
    if busy is not None:
        raise RefusedError(Refusal("not_idle", f"{place}.data.idle_s", busy))


def typed(request: Request, parsed: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return (type, data) of the caller's events; `parsed` may begin with that of the start."""
    mine = parsed[len(parsed) - len(request.events) :]
    return [(event.type, body) for event, body in zip(request.events, mine, strict=True)]
