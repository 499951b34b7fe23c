"""The table of events as `verify` compares it: places, digests by stream, and single rows."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, LiteralString, NamedTuple

from psycopg import AsyncConnection, Error, OperationalError
from psycopg.errors import UndefinedTable
from psycopg.rows import dict_row

from agentjournal.errors import Unavailable
from agentjournal.ids import Partition, Position
from agentjournal.settings import Settings
from agentjournal.sql_statements import read_statements
from commands.errors import NoTables
from commands.harmless import one_line
from streams.ports import Bounds

_SQL = read_statements("commands", "verify.sql")
_STREAMS = 500  # of which digests are made at once
_MOST_BESIDE = 100

Row = dict[str, Any]


class Digest(NamedTuple):
    """What the table holds of a stream, of the positions that are compared."""

    stream: str
    compared: int  # rows
    beyond: int  # rows that the projection cannot have written yet
    digest: bytes
    head_fits: bool  # the stream's row in `streams` is that of its last event


class StoredEvents:
    """Reads views only. Everything may raise Unavailable, or NoTables."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def places(self) -> dict[Partition, Position]:
        """Return how far the table is, by partition: the next position to read."""
        rows = await self._rows("places", {})
        return {Partition(row["partition"]): Position(row["next_position"]) for row in rows}

    async def parked(self) -> set[str]:
        """Return the streams at which the projection stopped."""
        return {row["stream"] for row in await self._rows("parked", {})}

    async def streams(self) -> AsyncIterator[list[str]]:
        """Yield the streams that the tables hold, some at a time, in order."""
        after = ""
        while page := await self._rows("streams", {"after": after, "most": _STREAMS}):
            yield [row["stream"] for row in page]
            after = page[-1]["stream"]

    async def digests(
        self, streams: Sequence[str], spans: Mapping[Partition, Bounds]
    ) -> list[Digest]:
        """Return the digest of each stream, over the positions in `spans`."""
        rows = await self._rows(
            "digests",
            {
                "streams": list(streams),
                "partitions": list(spans),
                "starts": [span.start for span in spans.values()],
                "ends": [span.end for span in spans.values()],
            },
        )
        return [Digest(**row) for row in rows]

    async def rows(self, keys: Sequence[tuple[str, int]]) -> dict[tuple[str, int], Row]:
        """Return rows by (stream, version), those that are there."""
        found = await self._rows(
            "rows", {"streams": [key[0] for key in keys], "versions": [key[1] for key in keys]}
        )
        return {(row["stream"], row["version"]): row for row in found}

    async def beside(self, stream: str, versions: tuple[int, int], span: Bounds) -> list[Row]:
        """Return rows of a stream, within `span`, whose versions are none of the log's."""
        return await self._rows(
            "beside",
            {
                "stream": stream,
                "first": versions[0],
                "last": versions[1],
                "start": span.start,
                "end": span.end,
                "most": _MOST_BESIDE,
            },
        )

    async def _rows(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        query: LiteralString = _SQL[statement]
        try:
            async with self._connection.cursor(row_factory=dict_row, binary=True) as cursor:
                await cursor.execute(query, values)
                return await cursor.fetchall()
        except UndefinedTable as error:
            raise NoTables from error
        except Error as error:
            raise Unavailable("Postgres", one_line(str(error))) from error


@asynccontextmanager
async def stored_events(settings: Settings) -> AsyncGenerator[StoredEvents]:
    """Connect, for as long as the `async with` block goes on. Raises Unavailable."""
    try:
        connection = await AsyncConnection.connect(
            settings.postgres, autocommit=True, application_name="agentjournal verify"
        )
    except OperationalError as error:
        raise Unavailable("Postgres", one_line(str(error))) from error
    async with connection:
        yield StoredEvents(connection)
