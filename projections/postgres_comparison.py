"""Comparing the tables of two generations: by one sum of hashes each, row by row where it differs.

No rows are matched where the sums are equal, which is nearly always: two rows of a table are never
the same, so rows that differ without changing the sum of 64-bit hashes would be a rare coincidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

from psycopg import AsyncConnection, sql
from psycopg.rows import dict_row

from agentjournal.ids import StreamId, parse_stream
from projections.projection import Projection, table_name
from projections.rows import Table

_SCHEMA = "agentjournal_internal"


@dataclass(frozen=True, slots=True)
class Difference:
    """A table that is not the same in both generations; the first row that differs by its key."""

    table: str
    rows: int  # how many differ
    key: Mapping[str, Any]
    columns: Sequence[str]  # empty: one of the two has no such row
    only_in: str  # live, new, or empty

    def __str__(self) -> str:
        place = ", ".join(f"{name}={value}" for name, value in self.key.items())
        what = f"is only in the {self.only_in} one" if self.only_in else f"in {_list(self.columns)}"
        return f"{self.table}: {self.rows:,} rows differ; the first, {place}, {what}"


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)


async def compare(
    connection: AsyncConnection[Any],
    live: Projection,
    building: Projection,
    parked: Iterable[StreamId],
) -> Sequence[Difference]:
    """Return the tables that differ, rows of `parked` streams left out.

    Both generations must be at the same places in what the connection sees.
    """
    streams = sorted(parked)
    owners = [parse_stream(stream) for stream in streams]
    left_out: dict[str, Sequence[str]] = {
        "streams": streams,
        "tenants": [tenant for _, tenant, _ in owners],
        "sessions": [name for _, _, name in owners],
        "kinds": [kind for kind, _, _ in owners],
    }
    found = [
        await _compare(connection, table, building.generation, left_out) for table in live.tables
    ]
    return [difference for difference in found if difference is not None]


async def _compare(
    connection: AsyncConnection[Any],
    table: Table,
    generation: int,
    left_out: Mapping[str, Sequence[str]],
) -> Difference | None:
    if await _sums(connection, table, None, left_out) == await _sums(
        connection, table, generation, left_out
    ):
        return None
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(_statement(table, generation), left_out)
        row = await cursor.fetchone()
    if row is None:
        return None
    live: Any = row["live"]
    new: Any = row["new"]
    only_in = "new" if live is None else "live" if new is None else ""
    columns: list[str] = []
    if live is not None and new is not None:
        columns = [name for name in live if live[name] != new[name]]
    return Difference(
        table.name, row["rows"], {name: row["one"][name] for name in table.key}, columns, only_in
    )


async def _sums(
    connection: AsyncConnection[Any],
    table: Table,
    generation: int | None,
    left_out: Mapping[str, Sequence[str]],
) -> tuple[Any, ...] | None:
    statement = sql.SQL(_SUMS).format(_rows(table, generation))
    cursor = await connection.execute(statement, left_out)
    return await cursor.fetchone()


_SUMS: LiteralString = "SELECT count(*), sum(hashtextextended(t::text, 0)) FROM {} AS t"

# Rows as JSON only of the first that differs; it is compared by its hash before.
_COMPARE: LiteralString = """
    SELECT count(*) OVER () AS rows, to_jsonb(l) AS live, to_jsonb(n) AS new,
        coalesce(to_jsonb(l), to_jsonb(n)) AS one
    FROM {live} AS l FULL JOIN {new} AS n ON {same_key}
    WHERE md5(l::text) IS DISTINCT FROM md5(n::text)
    ORDER BY {key} LIMIT 1
"""
_ROWS: LiteralString = "(SELECT * FROM {table} WHERE {is_compared})"
_BY_STREAM: LiteralString = "stream <> ALL (%(streams)s)"
_BY_SESSION: LiteralString = """
    (tenant, session_id) NOT IN (SELECT * FROM unnest(%(tenants)s::text[], %(sessions)s::text[]))
"""
_BY_ENTITY: LiteralString = """
    (tenant, entity_kind, entity_id) NOT IN (SELECT * FROM unnest(
        %(tenants)s::text[], %(kinds)s::text[], %(sessions)s::text[]))
"""


def _rows(table: Table, generation: int | None) -> sql.Composed:
    """Return the rows of a table that are compared."""
    return sql.SQL(_ROWS).format(
        table=sql.Identifier(_SCHEMA, table_name(table, generation)),
        is_compared=sql.SQL(_owned(table)),
    )


def _owned(table: Table) -> LiteralString:
    """Return what leaves out the rows of streams that one of the generations stopped at."""
    if "stream" in table.columns:
        return _BY_STREAM
    return _BY_SESSION if "session_id" in table.key else _BY_ENTITY


def _statement(table: Table, generation: int) -> sql.Composed:
    names = [sql.Identifier(name) for name in table.key]
    return sql.SQL(_COMPARE).format(
        live=_rows(table, None),
        new=_rows(table, generation),
        same_key=sql.SQL(" AND ").join(sql.SQL("l.{0} = n.{0}").format(name) for name in names),
        key=sql.SQL(", ").join(sql.SQL("coalesce(l.{0}, n.{0})").format(name) for name in names),
    )
