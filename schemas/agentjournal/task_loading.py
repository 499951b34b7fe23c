"""From stored events to the state of a task, or of another stream that is folded as simply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from agentjournal.errors import IntegrityError
from agentjournal.ids import StreamId, Version
from agentjournal.loading import StoredEvents
from agentjournal.stored import Foldable, Page


class Folding(Protocol):
    """A state that takes the events of its stream one after the other."""

    version: Version
    hash: str

    def apply(self, recorded: Foldable) -> None:
        """Take the next event."""
        ...


S = TypeVar("S", bound=Folding)


async def stored_fold(
    stored: StoredEvents, stream: StreamId, empty: Callable[[StreamId], S], kept: S | None = None
) -> S:
    """Return what the stored events of a stream come to; an empty state when there are none.

    A state that was `kept` goes on, if the last event that it took is still what is stored there.
    Raises StreamParked, EventUnreadable, IntegrityError when the events are not the whole chain.
    """
    state = kept or empty(stream)
    again = 1 if state.version else 0  # its last event is read once more
    head: Page | None = None
    async for page in stored.read_pages(stream, after=state.version - again):
        events = page.events
        if head is None and again:
            if not events or (events[0].version, events[0].hash) != (state.version, state.hash):
                return await stored_fold(stored, stream, empty)
            events = events[1:]
        head = head or page
        for event in events:
            if event.version != state.version + 1:
                raise IntegrityError(f"{stream}: version {state.version + 1} is missing")
            if event.version == head.last_version and event.hash != head.last_hash:
                raise IntegrityError(f"{stream}: version {event.version} is not the head's event")
            state.apply(event)
    if head is None:
        return empty(stream)
    if state.version < head.last_version:
        missing = head.last_version - state.version
        raise IntegrityError(f"{stream}: {missing} events are missing")
    return state
