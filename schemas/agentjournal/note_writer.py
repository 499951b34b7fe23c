"""Setting and deleting the notes of a session or a task."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from agentjournal.events import NoteDeleted, NoteSet
from agentjournal.events.decode import rejection
from agentjournal.handle import Handle
from agentjournal.receipts import Receipt


class NoteWriter(Handle):
    """Notes are events."""

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
