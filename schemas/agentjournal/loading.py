"""From stored events to a session's state, now or as it was."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from agentjournal.envelope import Recorded
from agentjournal.errors import IntegrityError, SessionNotFound, VersionNotFound
from agentjournal.ids import StreamId, Version
from agentjournal.state import SessionState

Place: TypeAlias = int | datetime  # a version, or a moment of the broker's clock


class StoredEvents(Protocol):
    """Where the events of streams are read."""

    async def head(self, stream: StreamId) -> tuple[Version, str] | None:
        """Return (version, hash) of the stream's last event, None when it has none."""
        ...

    def read_stream(
        self, stream: StreamId, *, after: int = 0, most: int | None = None
    ) -> AsyncIterator[Recorded]:
        """Yield at most `most` events with version > `after`, in order."""
        ...


def check_place(at: Place | None) -> None:
    """Raise ValueError, or TypeError, unless `at` is a version or a moment with a zone."""
    given: Any = at
    match given:
        case datetime():
            if given.utcoffset() is None:
                raise ValueError(
                    f"at={given} has no zone: use one, like datetime.now(UTC) or .astimezone()"
                )
        case bool():
            raise TypeError(f"at={given} is neither a version nor a datetime")
        case int():
            if given < 0:
                raise ValueError(f"at={given} is below 0: versions count from 1, 0 is the start")
        case None:
            pass
        case _:
            raise TypeError(f"at={given!r} is neither a version nor a datetime")


async def stored_state(
    stored: StoredEvents, stream: StreamId, at: Place | None = None
) -> SessionState:
    """Return the state that the stored events come to, up to the place `at`.

    Raises SessionNotFound, VersionNotFound, StreamParked, EventUnreadable, IntegrityError when the
    events are not the whole chain.
    """
    head = await stored.head(stream)
    if head is None:
        raise SessionNotFound(stream)
    last_version, last_hash = head
    version = at if isinstance(at, int) else None
    if version is not None and version > last_version:
        raise VersionNotFound(stream, version, last_version)
    state, count = SessionState(stream), 0
    async for recorded in stored.read_stream(stream, most=version):
        count += 1
        if recorded.version != count:
            raise IntegrityError(f"{stream}: version {count} is missing")
        if recorded.version == last_version and recorded.hash != last_hash:
            raise IntegrityError(f"{stream}: version {count} is not the head's event")
        if isinstance(at, datetime) and recorded_after(recorded, at):
            break
        state.apply(recorded)
    else:
        whole = last_version if version is None else version
        if count < whole:
            raise IntegrityError(f"{stream}: {whole - count} events are missing")
    state.summary.last_version = max(state.summary.last_version, last_version)
    return state


def recorded_after(recorded: Recorded, at: Place | None) -> bool:
    """Return whether an event is behind the place `at`; None is the end."""
    match at:
        case None:
            return False
        case datetime():
            return datetime.fromisoformat(recorded.recorded_at) > at
        case _:
            return recorded.version > at
