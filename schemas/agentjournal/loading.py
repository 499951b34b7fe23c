"""From stored events to a session's state, now or as it was."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from agentjournal.collecting import not_collecting
from agentjournal.envelope import Recorded
from agentjournal.errors import IntegrityError, SessionNotFound, VersionNotFound
from agentjournal.events import Event
from agentjournal.forks import MOST_FORKS, ForkTooDeepError, fork_of, inherit, parent_stream
from agentjournal.ids import StreamId
from agentjournal.state import SessionState
from agentjournal.stored import Page, StoredEvent

Place: TypeAlias = int | datetime  # a version, or a moment of the broker's clock


class StoredEvents(Protocol):
    """Where the events of streams are read."""

    def read_pages(
        self, stream: StreamId, *, after: int = 0, most: int | None = None
    ) -> AsyncIterator[Page]:
        """Yield at most `most` events with version > `after`, in order.

        There is a page when the stream has events, though none of them be asked for.
        """
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
    stored: StoredEvents, stream: StreamId, at: Place | None = None, *, forks: int = 0
) -> SessionState:
    """Return the state that the stored events come to, up to the place `at`.

    A fork begins with what its parent had come to. `forks` are those that this one is needed for.
    Raises SessionNotFound, VersionNotFound, StreamParked, EventUnreadable, IntegrityError when the
    events are not the whole chain.
    """
    if forks > MOST_FORKS:
        raise ForkTooDeepError(stream)
    state = SessionState(stream)
    await _read_on(state, stored, at, forks=forks)
    return state


class KeptState:
    """The state of a session from one reading to the next: only what is new is read.

    What it returns goes on at the next call: use it before you await anything else.
    """

    def __init__(self) -> None:
        self._state: SessionState | None = None

    async def current(self, stored: StoredEvents, stream: StreamId) -> SessionState:
        """Return what `stored_state` returns. Raises what it raises."""
        # Taken out meanwhile: a call beside this one, or after a failure, reads from the start.
        state, self._state = self._state, None
        if state is None or not state.version:
            state = await stored_state(stored, stream)
        else:
            try:
                await _read_on(state, stored, again=1)
            except (_OtherPastError, SessionNotFound):
                state = await stored_state(stored, stream)
        self._state = state
        return state


class _OtherPastError(Exception):
    """The event that a state ends with is not what is stored at its version."""


async def _read_on(
    state: SessionState,
    stored: StoredEvents,
    at: Place | None = None,
    *,
    again: int = 0,
    forks: int = 0,
) -> None:
    """Let `state` take what follows it, up to the place `at`.

    `again` is 1 when its last event is read once more, to see that it is still the same.
    """
    most, head = at if isinstance(at, int) else None, None
    # The first event is read for version 0 too: a fork has something there.
    asked = None if most is None else max(1, most)
    async for page in stored.read_pages(state.stream, after=state.version - again, most=asked):
        if head is None:
            head = page.of(())  # its events are not held on to
            if most is not None and most > head.last_version:
                raise VersionNotFound(state.stream, most, head.last_version)
            events = page.events
            if again:
                if not events or (events[0].version, events[0].hash) != (state.version, state.hash):
                    raise _OtherPastError
                page = page.rest()  # noqa: PLW2901 - the event is in the state
            if not state.version and events:
                await _inherit(state, stored, events[0], forks)
            if most == 0:
                break
        if not _take(state, page, head, at if isinstance(at, datetime) else None):
            break
    else:
        _check_whole(state, head, most)
    if head is None:
        raise SessionNotFound(state.stream)
    state.summary.last_version = max(state.summary.last_version, head.last_version)


async def _inherit(
    state: SessionState, stored: StoredEvents, first: StoredEvent, forks: int
) -> None:
    parent = fork_of(first)
    if parent is not None:
        stream = parent_stream(state.stream, parent)
        found = await stored_state(stored, stream, parent.version, forks=forks + 1)
        inherit(state, first, found)


def _take(state: SessionState, page: Page, head: Page, until: datetime | None) -> bool:
    """Let `state` take a page's events in order; return whether `until` is not reached yet."""
    models, taken = page.models(), list[type[Event]]()
    with not_collecting():
        for event in page.events:
            if event.version != state.version + 1:
                raise IntegrityError(f"{state.stream}: version {state.version + 1} is missing")
            if event.version == head.last_version and event.hash != head.last_hash:
                raise IntegrityError(
                    f"{state.stream}: version {event.version} is not the head's event"
                )
            if until is not None and event.at > until:
                break
            model = next(models)
            state.take(event, model)
            taken.append(type(model))
        state.summary.count_all(page.events[: len(taken)], taken)
    return len(taken) == len(page.events)


def _check_whole(state: SessionState, head: Page | None, most: int | None) -> None:
    if head is not None:
        whole = head.last_version if most is None else most
        if state.version < whole:
            missing = whole - state.version
            raise IntegrityError(f"{state.stream}: {missing} events are missing")


def recorded_after(recorded: Recorded, at: Place | None) -> bool:
    """Return whether an event is behind the place `at`; None is the end."""
    match at:
        case None:
            return False
        case datetime():
            return datetime.fromisoformat(recorded.recorded_at) > at
        case _:
            return recorded.version > at
