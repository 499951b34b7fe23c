"""Whether this code reads what is stored: one session, from its events to its windows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import NamedTuple, get_args

from agentjournal.errors import AgentJournalError, Unavailable
from agentjournal.ids import StreamId
from agentjournal.loading import StoredEvents, stored_state
from agentjournal.stored import Page, StoredEvent
from agentjournal.summary import Summary
from agentjournal.windows.window import WindowFormat, WindowOptions, Windows


class Failure(NamedTuple):
    """A session that this code cannot read, and the event that was reached."""

    stream: StreamId
    version: int  # 0: none was
    type: str
    error: str


@dataclass(slots=True)
class Tally:
    """What was looked at."""

    sessions: int = 0
    total_sessions: int = 0  # that there are
    events: int = 0
    upcast: int = 0
    skipped: dict[str, int] = field(default_factory=dict[str, int])

    def count(self, summary: Summary) -> None:
        """Take what a session was folded from."""
        self.events += sum(summary.events.values())
        self.upcast += summary.upcast
        for kind, count in summary.skipped.items():
            self.skipped[kind] = self.skipped.get(kind, 0) + count


class _Watched:
    """Stored events, and the last one that was read of them."""

    def __init__(self, stored: StoredEvents) -> None:
        self._stored = stored
        self.last: StoredEvent | None = None

    async def read_pages(
        self, stream: StreamId, *, after: int = 0, most: int | None = None
    ) -> AsyncIterator[Page]:
        async for page in self._stored.read_pages(stream, after=after, most=most):
            for self.last in page.events:
                yield page.of([self.last])
            if not page.events:
                yield page


async def checked(stored: StoredEvents, stream: StreamId) -> Summary | Failure:
    """Load a session and make its windows; return what it was folded from, or what went wrong.

    Raises Unavailable.
    """
    watched = _Watched(stored)
    try:
        state = await stored_state(watched, stream)
        for form in get_args(WindowFormat):
            Windows().window(state, WindowOptions(format=form))
    except Unavailable:
        raise
    except Exception as error:  # noqa: BLE001 - whatever new code does with old events is the answer
        last = watched.last
        version, kind = (last.version, last.type) if last is not None else (0, "")
        own = isinstance(error, AgentJournalError)
        words = str(error) if own else f"{type(error).__name__}: {error}"
        return Failure(stream, version, kind, words)
    return state.summary
