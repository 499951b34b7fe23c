"""A database in which every piece of work is rolled back, for properties of what is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from psycopg import AsyncConnection, sql
from psycopg.rows import dict_row

from agentjournal.envelope import Recorded
from agentjournal.ids import Partition
from consumers.roles import PROJECTIONS
from local.stack import Stack
from projections import postgres_store as store
from projections.folding import ProjectionFold
from projections.projection import Projection
from projections.rows import Row, Table
from tests.servers import fresh_settings

T = TypeVar("T")
Tables = Mapping[str, list[Row]]

PARTITION = Partition(3)  # whose events are stored


class Database:
    """One connection whose every piece of work is rolled back."""

    def __init__(self, postgres: str, runner: asyncio.Runner) -> None:
        self._runner = runner
        self.connection: AsyncConnection[Any] = runner.run(
            AsyncConnection.connect(postgres, autocommit=True)
        )

    def close(self) -> None:
        self._runner.run(self.connection.close())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        async def rolled_back() -> T:
            async with self.connection.transaction(force_rollback=True):
                return await work

        return self._runner.run(rolled_back())

    def stored(self, batches: Sequence[Sequence[Recorded]]) -> Tables:
        """Return all tables after these batches, as if nothing had been there before."""
        return self.run(self._stored(batches))

    async def _stored(self, batches: Sequence[Sequence[Recorded]]) -> Tables:
        tables: dict[str, list[Row]] = {}
        for projection in PROJECTIONS:
            for batch in batches:
                # As a process does that starts anew for each batch: all it knows is stored.
                await self.store(projection, batch)
            for table in projection.tables:
                tables[table.name] = await self.rows(projection, table)
        return tables

    async def store(self, projection: Projection, batch: Sequence[Recorded]) -> None:
        fold = ProjectionFold(projection)
        await store.load_places(self.connection, fold, [PARTITION])
        missing = fold.missing(batch)
        fold.put(missing, await store.load_contexts(self.connection, projection, missing))
        before = dict(fold.places)
        await store.write(self.connection, projection, before, fold.fold({PARTITION: batch}))

    async def rows(self, projection: Projection, table: Table) -> list[Row]:
        name = sql.Identifier("agentjournal_internal", projection.table_name(table))
        key = sql.SQL(", ").join(map(sql.Identifier, table.key))
        async with self.connection.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(sql.SQL("SELECT * FROM {} ORDER BY {}").format(name, key))
            return await cursor.fetchall()

    async def shown(self, statement: str) -> list[Row]:
        """Return the rows of a statement."""
        async with self.connection.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(statement.encode())
            return await cursor.fetchall()


@contextmanager
def database_of(stack: Stack) -> Generator[Database]:
    """Open a database with all tables, and nothing in them."""
    with asyncio.Runner() as runner:
        opened = Database(runner.run(fresh_settings(stack.settings)).postgres, runner)
        yield opened
        opened.close()
