"""The events of a stream as they are stored, with what left them for the artifact store beside."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection, Error, OperationalError
from psycopg.errors import InvalidSchemaName, UndefinedTable

from agentjournal.envelope import Recorded
from agentjournal.errors import Unavailable
from agentjournal.ids import StreamId
from agentjournal.kafka_ends import KafkaEnds
from agentjournal.partitions import partition_of
from agentjournal.ports import EVENTS
from agentjournal.postgres_pages import read_rows
from agentjournal.postgres_views import PostgresViews, recorded_of
from agentjournal.settings import Settings
from commands.errors import NoTables
from commands.harmless import one_line

_PAGE = 500
_PATIENCE_S = 10.0


async def last_version(settings: Settings, stream: StreamId) -> int:
    """Return at which version a stream is now, once its events can be read; 0: there is none.

    Raises Unavailable, NotCaughtUp.
    """
    partition = partition_of(stream.encode())
    ends, views = KafkaEnds(settings), PostgresViews(settings)
    try:
        end = await ends.end_of(partition)
        await views.wait_for_output(partition, end, _PATIENCE_S, projections=EVENTS)
        head = await views.head(stream)
        return 0 if head is None else head[0]
    finally:
        await ends.close()
        await views.close()


async def stored_events(settings: Settings, stream: StreamId) -> AsyncGenerator[Recorded]:
    """Yield the events of a stream in order; large values are where they were put.

    Raises Unavailable, NoTables, StreamParked when the read model stopped at the stream.
    """
    after = 0
    async with _connected(settings) as connection:
        while rows := await read_rows(connection, stream, after, _PAGE):
            for row in rows:
                yield recorded_of(stream, row)
            after = rows[-1]["version"]


@asynccontextmanager
async def _connected(settings: Settings) -> AsyncGenerator[AsyncConnection[Any]]:
    try:
        connection = await AsyncConnection.connect(
            settings.postgres, autocommit=True, application_name="agentjournal export"
        )
    except OperationalError as error:
        raise Unavailable("Postgres", one_line(str(error))) from error
    async with connection:
        try:
            yield connection
        except (UndefinedTable, InvalidSchemaName) as error:
            raise NoTables from error
        except Error as error:
            raise Unavailable("Postgres", one_line(str(error))) from error
