"""Rows of views, for commands that show them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, LiteralString

import psycopg
from psycopg.rows import dict_row

from agentjournal.errors import Unavailable
from agentjournal.settings import Settings
from commands.errors import NoTables
from commands.harmless import one_line
from commands.postgres_tables import are_missing

Row = dict[str, Any]


def select(settings: Settings, statement: LiteralString, values: Mapping[str, Any]) -> list[Row]:
    """Return what a statement gives, times in UTC. Raises NoTables, Unavailable."""
    connect = psycopg.Connection[Row].connect
    try:
        with connect(
            settings.postgres, application_name="agentjournal", row_factory=dict_row
        ) as connection:
            connection.read_only = True
            found = connection.execute(statement, values).fetchall()
    except psycopg.Error as error:
        if are_missing(error):
            raise NoTables from error
        raise Unavailable("Postgres", one_line(str(error))) from error
    return [{name: _in_utc(value) for name, value in row.items()} for row in found]


def _in_utc(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) else value
