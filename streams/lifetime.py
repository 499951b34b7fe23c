"""What a session may come to, and when it may expire, as far as its head knows: pure decisions.

The broker's clock tells how old and how idle a session is. What has begun may always be finished: a
limit refuses what begins something, never what tells how it ended.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from agentjournal.ids import Milliseconds, Version
from agentjournal.receipts import Refusal

_LIMITS = struct.Struct(">4Q")
_NAMES = ("events", "bytes", "tokens", "age_s")  # in the order in which they are kept and checked
_NO_LIMIT = 2**64 - 1
_MOST_MS = 2**63 - 1  # what a column holds

STATING = frozenset({"session.started", "session.updated"})  # a TTL, and limits

# Outcomes of what was begun before, and what is needed to record them or to let go.
ALWAYS = frozenset(
    {
        "approval.denied",
        "approval.expired",
        "approval.granted",
        "environment.changed",
        "file.changed",
        "handoff.accepted",  # or whoever was asked could not begin, and nobody would answer
        "handoff.completed",
        "handoff.failed",
        "input.provided",
        "lease.acquired",
        "lease.released",
        "lease.renewed",
        "limit.exceeded",
        "message.retracted",
        "model.called",
        "note.deleted",
        "plan.abandoned",
        "plan.completed",
        "process.ended",
        "promotion.completed",
        "session.deleted",
        "session.ended",
        "session.expired",
        "session.resumed",
        "session.updated",
        "step.completed",
        "step.failed",
        "step.rolled_back",
        "step.settled",
        "step.skipped",
        "tool.completed",
        "tool.failed",
        "tool.settled",
        "turn.ended",
        "turn.started",  # or no worker could say that it can do nothing about a message
    }
)


class Lifetime(NamedTuple):
    """What bounds a stream: when it began, its TTL (0: not its own), and limits that are enforced.

    `limits` is empty, or four numbers of 8 bytes: events, bytes, tokens, age in milliseconds.
    """

    started_ms: int = 0
    ttl_ms: int = 0
    limits: bytes = b""


def lifetime_after(lifetime: Lifetime, event_type: str, body: dict[str, Any]) -> Lifetime:
    """Return what bounds a stream once an event is in it; `body` is its data."""
    if event_type not in STATING:
        return lifetime
    ttl_s, limits = body.get("ttl_s"), body.get("limits")
    ttl_ms = lifetime.ttl_ms if ttl_s is None else _milliseconds(ttl_s)
    return lifetime._replace(ttl_ms=ttl_ms, limits=_limits_after(lifetime.limits, limits or {}))


def _milliseconds(seconds: float) -> int:
    return min(_MOST_MS, round(seconds * 1_000))


def _limits_after(limits: bytes, stated: dict[str, Any]) -> bytes:
    """Return the enforced limits once `stated` are: one that only warns is enforced no more."""
    if not stated:
        return limits
    kept = list(_LIMITS.unpack(limits)) if limits else [_NO_LIMIT] * len(_NAMES)
    for index, name in enumerate(_NAMES):
        if (limit := stated.get(name)) is not None:
            maximum = limit["maximum"] * (1_000 if name == "age_s" else 1)
            kept[index] = min(_MOST_MS, maximum) if limit["policy"] == "refuse" else _NO_LIMIT
    return b"" if all(each == _NO_LIMIT for each in kept) else _LIMITS.pack(*kept)


def is_within(limits: bytes, version: int, data_bytes: int, tokens: int, age_ms: int) -> bool:
    """Whether a stream that came to this much stays within its enforced limits."""
    most: tuple[int, int, int, int] = _LIMITS.unpack(limits)
    events, most_bytes, most_tokens, most_ms = most
    return (
        version <= events
        and data_bytes <= most_bytes
        and tokens <= most_tokens
        and age_ms <= most_ms
    )


def exceeded(limits: bytes, found: tuple[int, int, int, int]) -> Refusal:
    """Return the refusal of what would come to `found`: events, bytes, tokens, milliseconds."""
    for name, value, maximum in zip(_NAMES, found, _LIMITS.unpack(limits), strict=True):
        if value > maximum:
            unit = 1_000 if name == "age_s" else 1
            return Refusal("limit", name, str(maximum // unit), Version(-(-value // unit)))
    raise ValueError("nothing goes beyond a limit")


def check_idle(
    lifetime: Lifetime, idle_s: float, last_activity_ms: Milliseconds, at_ms: Milliseconds
) -> str | None:
    """Return why a stream does not expire after `idle_s` seconds, or None."""
    idle_ms = _milliseconds(idle_s)
    if idle_ms < lifetime.ttl_ms:
        return "is less than the session's own TTL"
    if at_ms - last_activity_ms < idle_ms:
        return "has not passed since the last event"
    return None
