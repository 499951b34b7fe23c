"""Results of tools in the read models: the latest of a call, with its exact value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentjournal.events import ToolCompleted
from agentjournal.ids import Version, stream_id
from agentjournal.postgres_views import PostgresViews
from agentjournal.sql_statements import read_statements

_SQL = read_statements("agentjournal", "results.sql")
READ_FOR_RESULTS = ("events", "results")  # the projections that results are read from
_MOST_S = 1e10  # a longer time does not fit into a date


@dataclass(frozen=True, slots=True)
class CachedResult:
    """What a call came to that was made before; name `call_id` as `cached_from` when you use it."""

    output: str | Sequence[Any]  # text, or parts: what the model sees
    result: Any  # the structured result
    call_id: str
    session_id: str
    recorded_at: str  # ISO 8601, the broker's clock
    version: Version  # of the event in that session


async def latest_result(
    views: PostgresViews,
    tenant: str,
    call: tuple[str, str],  # tool and digest
    max_age_s: float,
    only_session: str | None,
) -> CachedResult | None:
    """Return the latest result of a call; of a session that still has its environment if given."""
    tool, digest = call
    rows = await views.select(
        _SQL["latest"],
        tenant=tenant,
        tool=tool,
        digest=digest,
        max_age_s=float(min(max_age_s, _MOST_S)),
        session_id=only_session,
    )
    if not rows:
        return None
    found = rows[0]
    stream = stream_id("session", tenant, found["session_id"])
    async for recorded in views.read_stream(stream, after=found["version"] - 1, most=1):
        event = recorded.event
        if isinstance(event, ToolCompleted):
            return CachedResult(
                event.output,
                event.result,
                event.call_id,
                found["session_id"],
                recorded.recorded_at,
                recorded.version,
            )
    return None
