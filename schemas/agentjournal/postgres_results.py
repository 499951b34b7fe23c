"""Results of tools in the read models: where the latest of a call is."""

from __future__ import annotations

from agentjournal.ids import Version
from agentjournal.postgres_views import PostgresViews
from agentjournal.sql_statements import read_statements

_SQL = read_statements("agentjournal", "results.sql")
_MOST_S = 1e10  # a longer time does not fit into a date


class PostgresResults:
    """Finds results in the read models."""

    def __init__(self, views: PostgresViews) -> None:
        self._views = views

    async def latest(
        self,
        tenant: str,
        call: tuple[str, str],  # tool and digest
        max_age_s: float,
        only_session: str | None,
    ) -> tuple[str, Version] | None:
        """Return session and version of the latest result, None when there is none. As the port."""
        tool, digest = call
        rows = await self._views.select(
            _SQL["latest"],
            tenant=tenant,
            tool=tool,
            digest=digest,
            max_age_s=float(min(max_age_s, _MOST_S)),
            session_id=only_session,
        )
        return (rows[0]["session_id"], Version(rows[0]["version"])) if rows else None
