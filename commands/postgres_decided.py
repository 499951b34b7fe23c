"""What was decided already: how far sequencers are, and which appends a stream holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from psycopg import AsyncConnection, Error

from agentjournal.errors import Unavailable
from agentjournal.ids import Partition, Position
from agentjournal.settings import Settings
from agentjournal.sql_statements import read_statements

_SQL = read_statements("commands", "decided.sql")

Append = tuple[str, str]  # stream and append id


async def decided_until(settings: Settings) -> Mapping[Partition, Position]:
    """Return, by partition, the position before which every request is decided and written.

    Raises Unavailable.
    """
    rows = await _rows(settings, "decided", {})
    return {Partition(partition): Position(position) for partition, position in rows}


async def recorded(settings: Settings, appends: Iterable[Append]) -> set[Append]:
    """Return those of the appends whose events are in the log, as far as it is projected.

    Raises Unavailable.
    """
    given = list(appends)
    asked = {"stream": [stream for stream, _ in given], "append_id": [name for _, name in given]}
    return {(stream, append_id) for stream, append_id in await _rows(settings, "recorded", asked)}


async def _rows(
    settings: Settings, name: str, asked: Mapping[str, object]
) -> list[tuple[Any, ...]]:
    try:
        async with await AsyncConnection.connect(
            settings.postgres, application_name="agentjournal dead"
        ) as connection:
            return await (await connection.execute(_SQL[name], asked)).fetchall()
    except Error as error:
        raise Unavailable("Postgres", error) from error
