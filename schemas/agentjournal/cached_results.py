"""Results of tools that may be used again, with their exact values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentjournal.events import ToolCompleted
from agentjournal.ids import Version, stream_id
from agentjournal.ports import Views


@dataclass(frozen=True, slots=True)
class CachedResult:
    """What a call came to that was made before; name `call_id` as `cached_from` when you use it."""

    output: str | Sequence[Any]  # text, or parts: what the model sees
    result: Any  # the structured result
    call_id: str
    session_id: str
    recorded_at: str  # ISO 8601, the broker's clock
    version: Version  # of the event in that session


async def result_at(
    views: Views, tenant: str, session_id: str, version: Version
) -> CachedResult | None:
    """Return the result that a session has at a version, or None."""
    stream = stream_id("session", tenant, session_id)
    async for recorded in views.read_stream(stream, after=version - 1, most=1):
        event = recorded.event
        if isinstance(event, ToolCompleted):
            return CachedResult(
                event.output,
                event.result,
                event.call_id,
                session_id,
                recorded.recorded_at,
                recorded.version,
            )
    return None
