"""Which sessions `check-upgrade` looks at."""

from __future__ import annotations

from typing import NamedTuple

from psycopg import AsyncConnection, Error
from psycopg.errors import InvalidSchemaName, UndefinedTable

from agentjournal.errors import Unavailable
from agentjournal.ids import StreamId, stream_id
from agentjournal.settings import Settings
from agentjournal.sql_statements import read_statements
from commands.errors import NoTables
from commands.harmless import one_line

_SQL = read_statements("commands", "check_upgrade.sql")


class Sample(NamedTuple):
    """Sessions of a tenant, oldest activity first, and how many it has."""

    streams: list[StreamId]
    total: int


async def sampled(settings: Settings, most: int) -> Sample:
    """Return at most `most` sessions, from old ones to new ones. Raises Unavailable, NoTables."""
    try:
        async with await AsyncConnection.connect(
            settings.postgres, application_name="agentjournal check-upgrade"
        ) as connection:
            await connection.set_read_only(True)
            values = {"tenant": settings.tenant, "sample": most}
            rows = await (await connection.execute(_SQL["sample"], values)).fetchall()
    except (InvalidSchemaName, UndefinedTable) as error:
        raise NoTables from error
    except Error as error:
        raise Unavailable("Postgres", one_line(str(error))) from error
    streams = [stream_id("session", settings.tenant, row[0]) for row in rows]
    return Sample(streams, rows[0][1] if rows else 0)
