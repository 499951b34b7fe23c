"""Reading a stretch of a stream: where the stream ends, and the events."""

from __future__ import annotations

from typing import Any

from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import dict_row

from agentjournal.collecting import not_collecting
from agentjournal.errors import IntegrityError, StreamParked
from agentjournal.ids import StreamId, Version
from agentjournal.sql_statements import read_statements
from agentjournal.stored import Page, StoredEvent, read_plain

_SQL = read_statements("agentjournal", "views.sql")
_PAGE = 1000  # events


async def read_stretch(
    connection: AsyncConnection[Any], stream: StreamId, after: int, most: int
) -> list[Page]:
    """Return at most `most` events with version > `after`, in pages; none for no such stream.

    There is a page when the stream has events, though none of them be asked for.
    Raises StreamParked when the events projection stopped at the stream.
    """
    first = await _first(connection, stream, after, min(most, _PAGE))
    if first is None:
        return []
    pages = [first]
    if len(first.events) == _PAGE:
        start, end = first.events[-1].version, min(after + most, first.last_version)
        async with connection.pipeline():
            cursors = [
                await _asked(connection, stream, place, min(_PAGE, end - place))
                for place in range(start, end, _PAGE)
            ]
            for cursor in cursors:
                pages[-1] = _read(pages[-1])  # the database is at the next one meanwhile
                pages.append(first.of(await _fetched(cursor, stream)))
    return pages


async def read_rows(
    connection: AsyncConnection[Any], stream: StreamId, after: int, most: int
) -> list[dict[str, Any]]:
    """Return at most `most` events with version > `after`, with all of their envelope.

    Raises StreamParked when the events projection stopped at the stream.
    """
    async with connection.pipeline():
        heads = await connection.execute(_SQL["page_head"], {"stream": stream}, binary=True)
        cursor = connection.cursor(row_factory=dict_row, binary=True)
        asked = {"stream": stream, "after": after, "most": most}
        await cursor.execute(_SQL["load"], asked)
        _head(stream, await heads.fetchall())
        return await cursor.fetchall()


async def _first(
    connection: AsyncConnection[Any], stream: StreamId, after: int, most: int
) -> Page | None:
    async with connection.pipeline():
        # The head first: what is stored between the two is beyond it, and never missing.
        heads = await connection.execute(_SQL["page_head"], {"stream": stream}, binary=True)
        cursor = await _asked(connection, stream, after, most)
        version, head_hash = _head(stream, await heads.fetchall())
        events = await _fetched(cursor, stream)
    return None if version is None else Page(Version(version), head_hash, events)


def _head(stream: StreamId, heads: list[Any]) -> tuple[int | None, str]:
    version, head_hash, parked_by, parked_version, last_stored = heads[0]
    if parked_by is not None:
        raise StreamParked(stream, parked_by, parked_version)
    if version is not None and last_stored is not None and last_stored > version:
        raise IntegrityError(f"{stream}: version {last_stored} is beyond its head")
    return version, head_hash


async def _asked(
    connection: AsyncConnection[Any], stream: StreamId, after: int, most: int
) -> AsyncCursor[Any]:
    cursor = connection.cursor(binary=True)
    return await cursor.execute(_SQL["page"], {"stream": stream, "after": after, "most": most})


async def _fetched(cursor: AsyncCursor[Any], stream: StreamId) -> list[StoredEvent]:
    new = tuple.__new__  # what the class itself does besides takes twice as long
    return [new(StoredEvent, (stream, *row)) for row in await cursor.fetchall()]


def _read(page: Page) -> Page:
    with not_collecting():
        return page._replace(read=read_plain(page.events))
