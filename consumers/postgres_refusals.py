"""Rows of refused requests in Postgres, with the places up to which letters were read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from agentjournal.ids import Partition, Position
from agentjournal.sql_statements import read_statements
from consumers.postgres_pool import PostgresPool
from consumers.refusals import RefusedRow

_SQL = read_statements("consumers", "refused.sql")


class PostgresRefusals:
    """Every call raises OutageError when Postgres is away."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def places(self) -> Mapping[Partition, Position]:
        """Return the next position to read of each partition of the topic `dead`."""
        async with self._pool.connection() as connection:
            cursor = await connection.execute(_SQL["places"])
            return {Partition(row[0]): Position(row[1]) for row in await cursor.fetchall()}

    async def store(
        self, partition: Partition, before: Position, after: Position, rows: Sequence[RefusedRow]
    ) -> bool:
        """Store rows and move the place from `before` to `after`, both or neither.

        Returns False when the place was not at `before` any more.
        """
        async with self._pool.connection() as connection, connection.transaction():
            await connection.execute(_SQL["begin"], {"partition": partition})
            moved = await connection.execute(
                _SQL["move"], {"partition": partition, "before": before, "next": after}
            )
            if await moved.fetchone() is None:
                return False
            async with connection.cursor() as cursor:
                await cursor.executemany(_SQL["store"], [asdict(row) for row in rows])
        return True
