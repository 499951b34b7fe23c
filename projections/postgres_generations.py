"""Generations of a projection in Postgres: tables beside the live ones, and the switch to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from psycopg import AsyncConnection, sql

from agentjournal.errors import AgentJournalError
from projections import postgres_store as store
from projections.folding import Parked
from projections.projection import Projection, read_sql, table_name
from projections.rows import Table

_SQL = read_sql("generations.sql")
_SCHEMA = "agentjournal_internal"
_LOCK = 7_310_934_120_000  # any fixed number, beside a number for each name

State: TypeAlias = Literal["building", "live", "replaced"]


class OnlyParkedInNewError(AgentJournalError):
    """The new generation stopped at streams that the live one shows: mend what stops it first."""

    def __init__(self, projection: str, parked: Sequence[Parked]) -> None:
        first = parked[0]
        super().__init__(
            f"{projection}: the new generation stopped at {len(parked)} streams that the live one "
            f"shows, first at {first.stream} version {first.version}: {first.error}"
        )
        self.projection, self.parked = projection, parked


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation that is known, and what it means."""

    number: int
    digest: str
    state: State


async def lock_name(connection: AsyncConnection[Any], projection: Projection) -> bool:
    """Let nobody else build this projection while the connection is open; False if one does."""
    cursor = await connection.execute(
        "SELECT pg_try_advisory_lock(%s + hashtext(%s))", (_LOCK, projection.name)
    )
    row = await cursor.fetchone()
    return row is not None and bool(row[0])


async def generations(
    connection: AsyncConnection[Any], projection: Projection
) -> Sequence[Generation]:
    """Return the generations that are known, by number."""
    cursor = await connection.execute(_SQL["known"], {"projection": projection.name})
    return [Generation(*row) for row in await cursor.fetchall()]


async def begin(connection: AsyncConnection[Any], projection: Projection) -> Projection:
    """Return the generation to build: one that was begun by this code, else a new one."""
    async with connection.transaction():
        known = await generations(connection, projection)
        live = (await store.live(connection, projection)).generation
        for each in known:
            if each.state == "building" and each.digest == projection.digest:
                return projection.beside_live(each.number)
            if each.state == "building":
                await drop(connection, projection, each.number)
        building = projection.beside_live(max(live, *(each.number for each in known), 0) + 1)
        for table in projection.tables:
            await _create(connection, table, building.generation)
        await connection.execute(_SQL["place"], _named(building))
        await store.register(connection, building)
        return building


async def _create(connection: AsyncConnection[Any], table: Table, generation: int) -> None:
    """Make an empty table like the live one; one that is only added to gets its indexes later."""
    live, new = _name(table, None), _name(table, generation)
    like = "INCLUDING ALL EXCLUDING INDEXES" if table.insert_only else "INCLUDING ALL"
    await connection.execute(
        sql.SQL("CREATE TABLE {} (LIKE {} {})").format(new, live, sql.SQL(like))
    )
    cursor = await connection.execute(_SQL["form"], {"table": _text(table, None)})
    row = await cursor.fetchone()
    parameters, grants = row if row is not None else (None, None)
    if parameters:
        await _run(connection, sql.SQL("ALTER TABLE {} SET ({})"), new, parameters)
    for grant in grants or ():
        await connection.execute((grant % _text(table, generation)).encode())


async def _run(
    connection: AsyncConnection[Any], statement: sql.SQL, name: sql.Identifier, rest: str
) -> None:
    given: Any = rest  # what Postgres itself says of one of our tables
    await connection.execute(statement.format(name, sql.SQL(given)))


async def make_indexes(connection: AsyncConnection[Any], building: Projection) -> None:
    """Give tables the indexes that were left out while they were filled."""
    for table in building.tables:
        if table.insert_only:
            async with connection.transaction():
                await _index(connection, table, building.generation)


async def _index(connection: AsyncConnection[Any], table: Table, generation: int) -> None:
    cursor = await connection.execute(_SQL["indexes"], {"table": _text(table, generation)})
    there = len(await cursor.fetchall())
    cursor = await connection.execute(_SQL["indexes"], {"table": _text(table, None)})
    for number, (definition, is_primary) in enumerate(await cursor.fetchall()):
        if number < there:
            continue  # made before an interruption
        name = f"{table_name(table, generation)}_{number}"
        made = re.sub(
            r"INDEX .*? ON \S+ ", f"INDEX {name} ON {_text(table, generation)} ", definition
        )
        await connection.execute(made.encode())
        if is_primary:
            text = sql.SQL("ALTER TABLE {} ADD PRIMARY KEY USING INDEX {}")
            await connection.execute(text.format(_name(table, generation), sql.Identifier(name)))


async def check_parked(
    connection: AsyncConnection[Any], live: Projection, building: Projection
) -> None:
    """Raise OnlyParkedInNewError when streams are parked in the new generation alone."""
    known = {each.stream for each in await store.all_parked(connection, live)}
    parked = await store.all_parked(connection, building)
    if only := [each for each in parked if each.stream not in known]:
        raise OnlyParkedInNewError(live.name, only)


async def switch(connection: AsyncConnection[Any], live: Projection, building: Projection) -> None:
    """Let readers see the new generation, inside the caller's transaction.

    The caller holds the checkpoints of both. The old tables stay, under their own number; who wrote
    to them finds their checkpoints gone, and looks which generation is live.
    """
    old, new = live.generation, building.generation
    cursor = await connection.execute(
        _SQL["views"], {"tables": [_text(table, None) for table in live.tables]}
    )
    views = [row[0] for row in await cursor.fetchall()]
    # As readers lock: views before tables. LOCK TABLE would lock what others' views read, too.
    for view in views:
        await connection.execute(f"ALTER VIEW {view} RESET (check_option)".encode())
    for table in live.tables:
        await _rename(connection, _name(table, None), table_name(table, old))
        await _rename(connection, _name(table, new), table_name(table, None))
    # Every name comes out qualified, so that it can be told from others.
    await connection.execute("SET LOCAL search_path = ''")
    for view in views:
        await _repoint(connection, view, live, old)
    await connection.execute(_SQL["forget_places"], _named(live))
    await connection.execute(_SQL["forget_parked"], _named(live))
    await connection.execute(_SQL["enthrone"], _named(building))


async def _rename(connection: AsyncConnection[Any], table: sql.Identifier, name: str) -> None:
    statement = sql.SQL("ALTER TABLE {} RENAME TO {}")
    await connection.execute(statement.format(table, sql.Identifier(name)))


async def _repoint(connection: AsyncConnection[Any], view: str, live: Projection, old: int) -> None:
    cursor = await connection.execute(_SQL["definition"], {"view": view})
    row = await cursor.fetchone()
    definition = "" if row is None else row[0]
    for table in live.tables:  # also where columns are named by it
        ours = table_name(table, None)
        definition = re.sub(rf"\b{table_name(table, old)}\b", ours, definition)
    await connection.execute(f"CREATE OR REPLACE VIEW {view} AS {definition}".encode())


async def drop(connection: AsyncConnection[Any], projection: Projection, number: int) -> None:
    """Drop a generation that is not live: its tables, and all that is known of it."""
    async with connection.transaction():
        for table in projection.tables:
            await connection.execute(
                sql.SQL("DROP TABLE IF EXISTS {}").format(_name(table, number))
            )
        named = {"projection": projection.name, "generation": number}
        for statement in ("forget_places", "forget_parked", "forget"):
            await connection.execute(_SQL[statement], named)


def _name(table: Table, generation: int | None) -> sql.Identifier:
    return sql.Identifier(_SCHEMA, table_name(table, generation))


def _text(table: Table, generation: int | None) -> str:
    return f"{_SCHEMA}.{table_name(table, generation)}"


def _named(projection: Projection) -> dict[str, Any]:
    return {"projection": projection.name, "generation": projection.generation}
