"""What a session keeps at hand: its notes, and results of tools that may be used again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from agentjournal.events import NoteDeleted, NoteSet
from agentjournal.events.decode import rejection
from agentjournal.handle import Handle
from agentjournal.ids import Position
from agentjournal.partitions import partition_of
from agentjournal.postgres_notes import PostgresNotes
from agentjournal.receipts import Receipt
from agentjournal.working_memory import Needed, live_values, now, read_notes


class SessionMemory(Handle):
    """A session's working memory. Notes are events; what keeps them ready is only a cache."""

    async def notes(self, *, timeout_s: float = 5.0) -> Mapping[str, Any]:
        """Return the notes that hold, by key, with the exact values that were set.

        Gone are those that were deleted, whose time has passed by this machine's clock, or that
        were set before the session last ended. What is acknowledged through this handle is in
        it; through one that has written nothing, what anybody wrote before this call.

        Raises NotCaughtUp when the read models stay behind for `timeout_s`, StreamParked,
        Unavailable.
        """
        servers, needed = self._servers, await self._needed(timeout_s)
        store = PostgresNotes(servers.views)
        found = await read_notes(servers.notes, store, self.stream, needed, timeout_s)
        return live_values(found, now())

    async def set_note(
        self, key: str, value: Any, *, ttl_s: float | None = None, timeout_s: float = 30.0
    ) -> Receipt:
        """Set a note, for `ttl_s` seconds from when it is recorded. Raises what `append` raises."""
        try:
            note = NoteSet(key=key, value=value, ttl_s=ttl_s)
        except ValidationError as error:
            raise rejection(error) from None
        return await self.append(note, timeout_s=timeout_s)

    async def delete_note(self, key: str, *, timeout_s: float = 30.0) -> Receipt:
        """Delete a note, if there is one. Raises what `append` raises."""
        try:
            note = NoteDeleted(key=key)
        except ValidationError as error:
            raise rejection(error) from None
        return await self.append(note, timeout_s=timeout_s)

    async def _needed(self, timeout_s: float) -> Needed:
        """Return what a fresh read must show."""
        partition = partition_of(self.stream.encode())
        if self._last is not None:
            return Needed(partition, Position(0), self._last)
        end = await self._servers.ends.end_of(partition, timeout_s=timeout_s)
        return Needed(partition, end)
