"""What the promoter reads of the read models, and what it keeps itself, in Postgres."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from agentjournal.events import Extractor
from agentjournal.ids import Partition, StreamId, Version
from agentjournal.limits import ConfiguredLimits
from agentjournal.sql_statements import read_statements
from consumers.postgres_pool import PostgresPool
from consumers.promoter_places import LONGEST_IDLE_S, Due, Place

_SQL = read_statements("consumers", "promoter.sql")


class Failure(NamedTuple):
    """A session that the promoter stopped at, at this version, so many times in a row."""

    stream: StreamId
    version: Version
    error: str
    attempts: int


class PostgresPromoter:
    """Every call raises OutageError when Postgres is away."""

    def __init__(self, pool: PostgresPool, extractor: Extractor, limits: ConfiguredLimits) -> None:
        self._pool = pool
        self._by = {"extractor": extractor.name, "extractor_version": extractor.version}
        tenants = list(limits.tenants)
        waits = [limits.promote_after_idle_s(each) for each in (None, *tenants)]
        waits = [min(each, LONGEST_IDLE_S) for each in waits]
        self.longest_idle_s = max(waits)
        self._idle: dict[str, Any] = {
            "tenant": tenants,
            "idle_s": waits[1:],
            "default_idle_s": waits[0],
        }

    async def places(self, partitions: Iterable[Partition]) -> list[Place]:
        """Return up to where each partition is shown, and since when not all is dealt with."""
        rows = await self._rows("places", {"partitions": list(partitions)})
        return [Place(Partition(row[0]), row[1], row[2]) for row in rows]

    async def due(self, since: Sequence[tuple[Partition, datetime]], most: int) -> list[Due]:
        """Return sessions that are to be promoted, at most so many a partition."""
        given: dict[str, Any] = {
            "partition": [partition for partition, _ in since],
            "since": [at for _, at in since],
            "most": most,
        }
        return [Due(*row) for row in await self._rows("due", {**given, **self._idle})]

    async def looked(self, partition: Partition, until: datetime) -> None:
        """Note that sessions in which nothing happened since are dealt with."""
        await self._run("looked", {"partition": partition, "until": until})

    async def done(self, stream: StreamId, version: Version) -> None:
        """Note that of a session through a version nothing is left to do."""
        await self._run("done", {"stream": stream, "version": version})

    async def failed(self, stream: StreamId, version: Version, error: str) -> None:
        """Note why a session could not be promoted: it is left alone until it goes on."""
        await self._run("failed", {"stream": stream, "version": version, "error": error})

    async def failures(self) -> list[Failure]:
        """Return the sessions that it stopped at."""
        return [Failure(*row) for row in await self._rows("failures", {})]

    async def _rows(self, name: str, given: dict[str, Any]) -> list[tuple[Any, ...]]:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(_SQL[name], {**given, **self._by})
            return await cursor.fetchall()

    async def _run(self, name: str, given: dict[str, Any]) -> None:
        async with self._pool.connection() as connection:
            await connection.execute(_SQL[name], {**given, **self._by})
