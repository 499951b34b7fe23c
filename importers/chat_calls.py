"""Tool calls of a chat and which result belongs to which: providers use an id more than once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentjournal.responses.chat_message import CallIds
from agentjournal.responses.naming import free_id

ABSENT = object()  # no id at all, as older function calls have none


@dataclass(frozen=True, slots=True)
class _Open:
    call_id: str
    provider_id: Any
    tool: str
    message: int


class Calls:
    """The calls of one session: each gets an id of its own, and one result."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._open: list[_Open] = []

    def beginning(self, message: int) -> CallIds:
        """Return what names the calls in the `message`-th event."""
        return lambda provider_id, tool: self.begin(provider_id, tool, message)

    def begin(self, provider_id: Any, tool: str, message: int) -> str:
        """Return the id of a call in the `message`-th event: the provider's where it is unique."""
        has_id = isinstance(provider_id, str) and provider_id
        call_id = free_id(provider_id if has_id else f"call-{message}", self._used)
        self._used.add(call_id)
        self._open.append(_Open(call_id, provider_id if has_id else ABSENT, tool, message))
        return call_id

    def end(self, provider_id: Any, tool: Any) -> str | None:
        """Return the id of the call that a result belongs to, None when no open call is meant.

        It is the first open one, in the latest message that has one, with that id; or, for a
        result without an id, of that tool.
        """
        if isinstance(provider_id, str) and provider_id:
            meant = [call for call in self._open if call.provider_id == provider_id]
        else:
            meant = [call for call in self._open if not isinstance(tool, str) or call.tool == tool]
        if not meant:
            return None
        latest = max(call.message for call in meant)
        found = next(call for call in meant if call.message == latest)
        self._open.remove(found)
        return found.call_id
