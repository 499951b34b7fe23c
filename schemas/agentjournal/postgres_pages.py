"""Reading a stretch of a stream in one round trip: where the stream ends, and the events."""

from __future__ import annotations

from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import RowMaker

from agentjournal.errors import IntegrityError, StreamParked
from agentjournal.ids import StreamId, Version
from agentjournal.sql_statements import read_statements
from agentjournal.stored import Page, StoredEvent

_SQL = read_statements("agentjournal", "views.sql")


async def read_page(
    connection: AsyncConnection[Any], stream: StreamId, after: int, most: int
) -> Page | None:
    """Return at most `most` events with version > `after`; None when the stream has none at all.

    Raises StreamParked when the events projection stopped at the stream.
    """
    asked = {"stream": stream, "after": after, "most": most}
    async with connection.pipeline():
        # The head first: what is stored between the two is beyond it, and never missing.
        heads = await connection.execute(_SQL["page_head"], asked, binary=True)
        cursor = connection.cursor(row_factory=_stored_event, binary=True)
        await cursor.execute(_SQL["page"], asked)
        events = await cursor.fetchall()
        version, head_hash, parked_by, parked_version = (await heads.fetchall())[0]
    if parked_by is not None:
        raise StreamParked(stream, parked_by, parked_version)
    if version is None:
        return None
    if events and events[-1].version > events[-1].last_version:
        raise IntegrityError(f"{stream}: version {events[-1].version} is beyond its head")
    return Page(Version(version), head_hash, events)


def _stored_event(_: object) -> RowMaker[StoredEvent]:
    return StoredEvent._make
