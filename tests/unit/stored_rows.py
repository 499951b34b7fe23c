"""Stored events of one stream, in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from agentjournal.envelope import Recorded
from agentjournal.ids import StreamId, Version


@dataclass
class Rows:
    """Events of one stream, as a table holds them."""

    events: Sequence[Recorded]
    head_hash: str | None = None
    asked: list[int | None] = field(default_factory=list[int | None])

    async def head(self, stream: StreamId) -> tuple[Version, str] | None:
        if not self.events:
            return None
        last = self.events[-1]
        assert last.stream == stream
        return last.version, self.head_hash or last.hash

    async def read_stream(
        self, stream: StreamId, *, after: int = 0, most: int | None = None
    ) -> AsyncIterator[Recorded]:
        assert all(each.stream == stream for each in self.events)
        self.asked.append(most)
        for each in [each for each in self.events if each.version > after][:most]:
            yield each
