"""Stored events of one stream, in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from agentjournal.envelope import Recorded
from agentjournal.ids import StreamId
from agentjournal.stored import Page, stored_event


@dataclass
class Rows:
    """Events of one stream, as a table holds them."""

    events: Sequence[Recorded]
    head_hash: str | None = None
    page: int = 3  # events at once
    asked: list[tuple[int, int | None]] = field(default_factory=list[tuple[int, int | None]])

    async def read_pages(
        self, stream: StreamId, *, after: int = 0, most: int | None = None
    ) -> AsyncIterator[Page]:
        assert all(each.stream == stream for each in self.events)
        self.asked.append((after, most))
        if not self.events:
            return
        last = self.events[-1]
        found = [stored_event(e) for e in self.events if e.version > after][:most]
        pages = [found[at : at + self.page] for at in range(0, len(found), self.page)] or [[]]
        for events in pages:
            yield Page(last.version, self.head_hash or last.hash, events)
