"""Sessions that need a worker, as the read models have them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from agentjournal.ports import Runnable
from agentjournal.postgres_views import PostgresViews
from agentjournal.sql_statements import read_statements

_SQL = read_statements("agentjournal", "work.sql")


class PostgresWork:
    """Finds work in the read models."""

    def __init__(self, views: PostgresViews) -> None:
        self._views = views

    async def runnable(
        self, tenant: str, agent: str, as_of: datetime, *, without: Collection[str], most: int
    ) -> list[Runnable]:
        """Return sessions that need a worker, the longest waiting first. As the port."""
        rows = await self._views.select(
            _SQL["runnable"],
            tenant=tenant,
            agent=agent,
            as_of=as_of,
            without=list(without),
            most=most,
        )
        return [Runnable(**row) for row in rows]
