"""What tests of the SQL views share: events appended and waited for, and the rows of a view."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agentjournal import Event, Log
from agentjournal.settings import Settings
from tests.servers import query


async def rows(settings: Settings, view: str, log: Log, session: str = "s") -> list[dict[str, Any]]:
    """Return what a view shows of a session, in the order of versions."""
    return await query(
        settings,
        f"SELECT * FROM agentjournal.{view} WHERE tenant = '{log.settings.tenant}'"
        f" AND session_id = '{session}' ORDER BY version",
    )


async def recorded(
    log: Log,
    *events: Event,
    session: str = "s",
    on_task: str | None = None,
    fence: int | None = None,
    **more: Any,
) -> None:
    """Append events, each on its own and under `fence`, and wait until every view shows them.

    They are the session's, or a task's with `on_task`.
    """
    handle: Any = log.session(session, **more) if on_task is None else log.task(on_task)
    handle._writer = replace(handle._writer, fence=fence)
    receipts = [await handle.append(each) for each in events]
    await log.caught_up(receipts[-1])
