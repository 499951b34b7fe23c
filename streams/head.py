"""The head of a stream: all that the fold needs to know of a stream's past."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from agentjournal.envelope import NO_HASH
from agentjournal.ids import Milliseconds, Position, Version
from streams.leases import Lease
from streams.lifetime import Lifetime

WINDOW = 256  # appends of a stream that are remembered
ENTRY_SIZE = 32
_WINDOW_SIZE = WINDOW * ENTRY_SIZE
_ID_SIZE = 10
_REST_SIZE = ENTRY_SIZE - _ID_SIZE


class Seen(NamedTuple):
    """An append that the stream remembers: its content, and where it went."""

    digest: bytes
    first_version: Version
    size: int
    position: Position


class Head(NamedTuple):
    """What a stream has come to.

    `appends` holds the last 256 appends, oldest first, in 32 bytes each: first the digests of all
    append ids (10), which are searched, then for each its content digest (8), first version (6),
    size (2) and position (6), big-endian.
    Without a lease its fields are 0 and "".
    """

    version: Version = Version(0)
    hash: str = NO_HASH
    status: str = "open"  # or ended, expired, deleted
    user: bytes = b""  # digest of the user; empty: nobody's
    last_activity_ms: Milliseconds = Milliseconds(0)
    data_bytes: int = 0  # over all events
    tokens: int = 0  # as stated by the writers
    lease_fence: int = 0
    lease_until_ms: int = 0
    lease_ms: int = 0  # how far each write under the fence extends it
    lease_holder: str = ""
    started_ms: int = 0  # when it began, by the broker's clock
    ttl_ms: int = 0  # its own; 0: what its tenant's sessions have
    limits: bytes = b""  # that are enforced, as `Lifetime` says
    appends: bytes = b""

    @property
    def lease(self) -> Lease:
        """The lease under which the stream is written."""
        return Lease(self.lease_fence, self.lease_until_ms, self.lease_ms, self.lease_holder)

    @property
    def lifetime(self) -> Lifetime:
        """What bounds the stream."""
        return Lifetime(self.started_ms, self.ttl_ms, self.limits)


EMPTY = Head()


def id_digest(append_id: str) -> bytes:
    """Return the 10 bytes by which a stream remembers an append id."""
    return hashlib.sha256(append_id.encode()).digest()[:_ID_SIZE]


def find_append(head: Head, wanted: bytes) -> Seen | None:
    """Return what the stream remembers of the append id with this digest, or None."""
    appends = head.appends
    count = len(appends) // ENTRY_SIZE
    ids_end = count * _ID_SIZE
    at = appends.find(wanted, 0, ids_end)
    while at >= 0 and at % _ID_SIZE:
        at = appends.find(wanted, at + 1, ids_end)
    if at < 0:
        return None
    start = ids_end + at // _ID_SIZE * _REST_SIZE
    entry = appends[start : start + _REST_SIZE]
    return Seen(
        entry[:8],
        Version(int.from_bytes(entry[8:14])),
        int.from_bytes(entry[14:16]),
        Position(int.from_bytes(entry[16:])),
    )


def remember_append(appends: bytes, digest: bytes, seen: Seen) -> bytes:
    """Return the window with one more append in it, the oldest dropped beyond 256."""
    numbers = (
        seen.first_version << 64 | seen.size << 48 | seen.position  # 6, 2 and 6 bytes
    ).to_bytes(14)
    ids_end = len(appends) // ENTRY_SIZE * _ID_SIZE
    is_full = len(appends) == _WINDOW_SIZE
    first, rest = (_ID_SIZE, ids_end + _REST_SIZE) if is_full else (0, ids_end)
    return b"".join((appends[first:ids_end], digest, appends[rest:], seen.digest, numbers))


def user_digest(user: object) -> bytes:
    """Return 16 bytes that tell one user from another without keeping the name."""
    return hashlib.sha256(user.encode()).digest()[:16] if isinstance(user, str) else b""


_STATUS_AFTER = {
    "session.ended": "ended",
    "session.expired": "expired",
    "session.resumed": "open",
    "session.deleted": "deleted",
}


def status_after(status: str, event_type: str) -> str:
    """Return the stream's status once an event of this type is in it."""
    return _STATUS_AFTER.get(event_type, status)


def user_after(user: bytes, event_type: str, parsed: dict[str, Any]) -> bytes:
    """Return the digest of the stream's user once this event is in it: the start names it."""
    return user_digest(parsed.get("user")) if event_type == "session.started" else user
