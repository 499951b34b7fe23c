"""What agents wait for, and whose outcome is unknown, as the views say it."""

from __future__ import annotations

from typing import Any

from agentjournal.settings import Settings, find_settings
from agentjournal.sql_statements import read_statements
from commands.naming import session_named
from commands.postgres_rows import Row, select

_SQL = read_statements("commands", "waiting_for.sql")


def rows_of(session: str | None, statement: str, **values: Any) -> list[Row]:
    """Return the rows of the session that is named so, or those of all of the tenant.

    Raises as `rows`.
    """
    settings = find_settings()
    tenant, session_id = settings.tenant, None
    if session is not None:
        tenant, session_id = session_named(settings, session)
    return rows(settings, statement, tenant=tenant, session=session_id, **values)


def rows(settings: Settings, statement: str, **values: Any) -> list[Row]:
    """Return what a statement of waiting_for.sql gives, times in UTC.

    Raises NoTables, Unavailable.
    """
    return select(settings, _SQL[statement], values)
