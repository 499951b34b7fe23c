"""What the read models have to say to `top`, counted in one short transaction.

Counting is bounded: what takes longer than three seconds is given up, what has no room left within
five waits for the next look, and what took long is counted more seldom: a large table costs at most
a twentieth of one connection's time.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, LiteralString

import psycopg
from psycopg.errors import QueryCanceled
from psycopg.rows import dict_row

from agentjournal.errors import Unavailable
from agentjournal.settings import Settings
from agentjournal.sql_statements import read_statements
from commands.errors import NoTables
from commands.harmless import one_line
from commands.postgres_tables import are_missing
from commands.top_figures import ACTIVE_S, DeadLetters, Lag, ReadModels, SessionCounts
from commands.top_pace import Pace

STATEMENTS = read_statements("commands", "top.sql")
_ONE_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
_TIMEOUT = "SELECT set_config('statement_timeout', %s, true)"
_CONNECT_S = 5
_ABOUT = "sessions_about"  # of sessions that could not be counted

Row = dict[str, Any]


class ReadModelCounts:
    """Counts again and again over one connection."""

    def __init__(
        self,
        settings: Settings,
        *,
        statements: Mapping[str, LiteralString] = STATEMENTS,  # in this order: the cheap ones first
        longest_s: float = 3.0,  # of one statement
        in_all_s: float = 5.0,
    ) -> None:
        self._address = settings.postgres
        self._statements = statements
        self._longest_s = longest_s
        self._in_all_s = in_all_s
        self._connection: psycopg.AsyncConnection[Row] | None = None
        self._pace = Pace()
        self._known = ReadModels()

    async def read(self) -> ReadModels:
        """Return the figures; those that are not due as they were. Raises NoTables, Unavailable."""
        try:
            connection = await self._connected()
            async with connection.transaction():
                await connection.execute(_ONE_SNAPSHOT)
                # Compiling takes longer than most of these take to run.
                await connection.execute("SET LOCAL jit = off")
                until = time.monotonic() + self._in_all_s
                for name in self._statements:
                    await self._count(connection, name, until)
        except psycopg.Error as error:
            await self.close()
            if are_missing(error):
                raise NoTables from error
            raise Unavailable("Postgres", one_line(str(error))) from error
        except BaseException:  # a cancelled one leaves a transaction behind
            await self.close()
            raise
        return self._known

    async def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _connected(self) -> psycopg.AsyncConnection[Row]:
        if self._connection is None:
            self._connection = await psycopg.AsyncConnection[Row].connect(
                self._address,
                autocommit=True,
                application_name="agentjournal top",
                connect_timeout=_CONNECT_S,
                row_factory=dict_row,
            )
        return self._connection

    async def _count(
        self, connection: psycopg.AsyncConnection[Row], name: str, until: float
    ) -> None:
        began = time.monotonic()
        left_s = min(self._longest_s, until - began)
        if name == _ABOUT or left_s <= 0 or not self._pace.is_due(name, began):
            return
        rows = await self._rows(connection, name, left_s)
        changed: dict[str, Any] = {name: None if rows is None else _figure(name, rows)}
        if name == "sessions":
            about = await self._rows(connection, _ABOUT, self._longest_s) if rows is None else None
            changed[_ABOUT] = about and about[0]["QUERY PLAN"][0]["Plan"]["Plan Rows"]
        self._known = replace(self._known, **changed)
        self._pace.took(name, began, time.monotonic())

    async def _rows(
        self, connection: psycopg.AsyncConnection[Row], name: str, most_s: float
    ) -> list[Row] | None:
        """Return what a statement gives; None where it takes longer."""
        try:
            async with connection.transaction():
                await connection.execute(_TIMEOUT, [f"{max(1, round(most_s * 1_000))}ms"])
                cursor = await connection.execute(self._statements[name], {"active_s": ACTIVE_S})
                return await cursor.fetchall()
        except QueryCanceled:
            return None


def _figure(name: str, rows: list[Row]) -> Any:
    match name:
        case "sessions":
            by_status = {row["status"]: row["sessions"] for row in rows}
            return SessionCounts(by_status, sum(row["active"] for row in rows))
        case "dead_letters":
            return DeadLetters(rows[0]["letters"], rows[0]["last_hour"])
        case "projections":
            return tuple(Lag(**row) for row in rows)
        case _:
            (count,) = rows[0].values()
            return int(count)
