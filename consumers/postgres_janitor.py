"""What the janitor reads of the read models, and what it keeps itself, in Postgres."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from agentjournal.ids import Partition, StreamId
from agentjournal.sql_statements import read_statements
from consumers.janitor_expiry import Idle, Progress, State
from consumers.janitor_limits import Active, LimitRow, Over, Place, Untold, user_stream
from consumers.postgres_pool import PostgresPool

_SQL = read_statements("consumers", "janitor.sql")

# By which the broker's clock may have been set back meanwhile.
_AGAIN = timedelta(seconds=10)
_LONG_AGO = datetime.fromisoformat("1970-01-01T00:00:00Z")


class PostgresJanitor:
    """Every call raises OutageError when Postgres is away."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def configure(self, limits: Iterable[LimitRow]) -> None:
        """Keep the limits that hold from now on, instead of those that held before."""
        columns = zip(*limits, strict=True)
        given = dict(zip(LimitRow._fields, map(list, columns), strict=True))
        async with self._pool.connection() as connection, connection.transaction():
            await connection.execute(_SQL["lock_limits"])
            await connection.execute(_SQL["forget_limits"])
            await connection.execute(_SQL["put_limits"], given)

    async def idle(self, *, most: int, margin_s: float, without: Sequence[str]) -> list[Idle]:
        """Return sessions that have expired, at most `most` a partition, those longest ago first.

        `margin_s` later than the clock of the database says; none of `without`.
        """
        given = {"most": most, "margin_s": margin_s, "without": list(without)}
        async with self._pool.connection() as connection, connection.transaction():
            await connection.execute(_SQL["in_order"])
            cursor = await connection.execute(_SQL["idle"], given)
            rows = await cursor.fetchall()
        return [Idle(row[0], row[1], row[2], int(row[3])) for row in rows]

    async def progress(self, projection: str) -> Mapping[Partition, Progress]:
        """Return how far each partition is decided, and how far a projection shows it."""
        rows = await self._rows("progress", {"projection": projection})
        return {Partition(row[0]): Progress(*row[1:]) for row in rows}

    async def states(self, streams: Sequence[str]) -> Mapping[StreamId, State]:
        """Return sessions as they are shown now."""
        rows = await self._rows("states", {"streams": list(streams)})
        return {StreamId(row[0]): State(row[1], row[2]) for row in rows}

    async def places(self) -> list[Place]:
        """Return what is to be looked at, partition by partition."""
        rows = await self._rows("places", {})
        return [
            Place(Partition(row[0]), _LONG_AGO if row[2] is None else row[2] - _AGAIN, row[1])
            for row in rows
        ]

    async def looked(self, place: Place) -> None:
        """Note that a partition was looked at."""
        await self._run("looked", {"partition": place.partition, "until": place.until})

    async def active(self, place: Place) -> list[Active]:
        """Return the open sessions of a partition in which something happened."""
        given = {"partition": place.partition, "since": place.since}
        return [Active(*row) for row in await self._rows("active", given)]

    async def over(self, sessions: Sequence[Active]) -> list[Over]:
        """Return the limits that sessions went over, and that were not told before."""
        given = {
            "stream": [each.stream for each in sessions],
            "tenant": [each.tenant for each in sessions],
            "session_id": [each.session_id for each in sessions],
            "user_id": [each.user_id for each in sessions],
            "user_stream": [user_stream(each) for each in sessions],
        }
        return [Over(*row) for row in await self._rows("over", given)]

    async def untold(self, *, overdue_s: float, most: int) -> list[Untold]:
        """Return what there should be an alert of and was none yet, at most `most`.

        A request that a person has to decide is overdue after `overdue_s`.
        """
        rows = await self._rows("untold", {"overdue_s": overdue_s, "most": most})
        return [Untold(*row) for row in rows]

    async def told(self, untold: Sequence[Untold]) -> None:
        """Note that there was an alert of each."""
        given = {
            "kind": [each.kind for each in untold],
            "stream": [each.stream for each in untold],
            "what": [each.what for each in untold],
        }
        await self._run("told", given)

    async def _rows(self, name: str, given: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(_SQL[name], given)
            return await cursor.fetchall()

    async def _run(self, name: str, given: Mapping[str, Any]) -> None:
        async with self._pool.connection() as connection:
            await connection.execute(_SQL[name], given)
