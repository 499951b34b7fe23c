"""Row changes on their way into the tables of a projection, inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from psycopg import AsyncConnection, sql

from projections.projection import Projection, read_sql
from projections.rows import Changes, Table

_SQL = read_sql("store.sql")
_WORTH_COPYING = 200  # rows: below it the round trips of COPY take longer than they save


async def write_rows(
    connection: AsyncConnection[Any], projection: Projection, changes: Changes
) -> None:
    """Write all rows."""
    await copy_rows(connection, projection, changes)
    await merge_rows(connection, projection, changes)


async def copy_rows(
    connection: AsyncConnection[Any], projection: Projection, changes: Changes
) -> None:
    """Write those rows for which COPY is the quicker way; not in a pipeline."""
    for table in projection.tables:
        if _is_copied(table, changes):
            await _copy(connection, projection, table, changes.inserted(table.name))


async def merge_rows(
    connection: AsyncConnection[Any], projection: Projection, changes: Changes
) -> None:
    """Write the rows that `copy_rows` does not; in a pipeline nobody waits for one statement."""
    for table in projection.tables:
        if not _is_copied(table, changes):
            for arrays in changes.arrays(table.name):
                await connection.execute(projection.sql[table.name], arrays, binary=True)


def _is_copied(table: Table, changes: Changes) -> bool:
    return table.insert_only and changes.count_inserted(table.name) >= _WORTH_COPYING


async def _copy(
    connection: AsyncConnection[Any],
    projection: Projection,
    table: Table,
    rows: Sequence[tuple[Any, ...]],
) -> None:
    name = f"agentjournal_internal.{projection.table_name(table)}"
    columns = list(table.columns)
    cursor = await connection.execute(_SQL["types"], {"table": name, "columns": columns})
    types = [row[0] for row in await cursor.fetchall()]
    times = [n for n, each in enumerate(types) if each == "timestamptz"]
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
        sql.Identifier(*name.split(".")), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    async with connection.cursor() as writing, writing.copy(statement) as copy:
        copy.set_types(types)
        for row in rows:
            values = list(row)
            for n in times:
                values[n] = _moment(values[n])
            await copy.write_row(values)


@lru_cache(maxsize=64)  # the events of an append have one time
def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
