"""Whether a database was ever prepared for us, told from the error it gives."""

from __future__ import annotations

from psycopg.errors import InvalidSchemaName, UndefinedTable


def are_missing(error: Exception) -> bool:
    """Return whether a statement failed because our tables are not there."""
    return isinstance(error, InvalidSchemaName | UndefinedTable)
