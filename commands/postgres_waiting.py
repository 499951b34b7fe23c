"""What agents wait for, and whose outcome is unknown, as the views say it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg.rows import dict_row

from agentjournal.errors import Unavailable
from agentjournal.settings import Settings, find_settings
from agentjournal.sql_statements import read_statements
from commands.errors import NoTables
from commands.harmless import one_line
from commands.naming import session_named
from commands.postgres_tables import are_missing

_SQL = read_statements("commands", "waiting_for.sql")

Row = dict[str, Any]


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
    connect = psycopg.Connection[Row].connect
    try:
        with connect(
            settings.postgres, application_name="agentjournal", row_factory=dict_row
        ) as connection:
            connection.read_only = True
            found = connection.execute(_SQL[statement], values).fetchall()
    except psycopg.Error as error:
        if are_missing(error):
            raise NoTables from error
        raise Unavailable("Postgres", one_line(str(error))) from error
    return [{name: _in_utc(value) for name, value in row.items()} for row in found]


def _in_utc(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) else value
