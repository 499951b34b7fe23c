"""What the client reads from Postgres: streams, sessions, and how far projections are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from selectors import EVENT_READ, DefaultSelector
from typing import Any, LiteralString

from psycopg import AsyncConnection, Error
from psycopg.errors import InvalidSchemaName, UndefinedTable
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from agentjournal.artifacts import Artifacts
from agentjournal.envelope import Recorded
from agentjournal.errors import IntegrityError, NotCaughtUp, StreamParked, Unavailable
from agentjournal.ids import Partition, Position, StreamId, Version
from agentjournal.offloading import whole, whole_page
from agentjournal.ports import SessionInfo
from agentjournal.postgres_pages import read_rows, read_stretch
from agentjournal.receipts import Receipt
from agentjournal.settings import Settings
from agentjournal.sql_statements import read_statements
from agentjournal.stored import Page, written_time

_SQL = read_statements("agentjournal", "views.sql")
_PAGE = 5_000
_FIRST_PAUSE_S, _MOST_PAUSE_S = 0.002, 0.1
_LEAST_S = 0.5  # a connection that is there may take to be had
_PATIENCE_S = 5.0  # how long a connection may be waited for where the caller says nothing
_ANSWER_S = 60.0  # how long a read may take: more than any does, where the server is there


class PostgresViews:
    """Reads the public views; connects when first asked, and again after an outage."""

    def __init__(
        self,
        settings: Settings,
        artifacts: Artifacts | None = None,
        *,
        answer_s: float = _ANSWER_S,
    ) -> None:
        """A server that was reached and has not answered after `answer_s` is Unavailable."""
        self._settings, self._artifacts, self._answer_s = settings, artifacts, answer_s
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] | None = None
        self._opening = asyncio.Lock()

    async def close(self) -> None:
        """Close the connections."""
        if self._pool is not None:
            await self._pool.close(timeout=2)

    async def read_stream(
        self, stream: StreamId, *, after: int = 0, most: int | None = None
    ) -> AsyncGenerator[Recorded]:
        """Yield the events of a stream with version > `after`, in order, as they are stored now.

        Raises StreamParked when the events projection stopped at this stream.
        """
        left = most
        while left is None or left > 0:
            page = _PAGE if left is None else min(left, _PAGE)
            async with self._connection(_PATIENCE_S) as connection:
                rows = await read_rows(connection, stream, after, page)
            for row in rows:
                yield await whole(recorded_of(stream, row), self._artifacts)
            if len(rows) < page:
                return
            after = rows[-1]["version"]
            left = None if left is None else left - len(rows)

    async def read_pages(
        self, stream: StreamId, *, after: int = 0, most: int | None = None
    ) -> AsyncGenerator[Page]:
        """Yield the events of a stream with version > `after`, in order, and where it ends.

        There is a page when the stream has events, though none of them be asked for.
        Raises StreamParked when the events projection stopped at this stream.
        """
        while True:
            size = _PAGE if most is None else min(most, _PAGE)
            async with self._connection(_PATIENCE_S) as connection:
                pages = await read_stretch(connection, stream, after, size)
            count = sum(len(page.events) for page in pages)
            most = None if most is None else most - count
            after += count  # versions have no gaps; who reads them would see one
            while pages:  # which are let go one by one
                yield await whole_page(pages.pop(0), self._artifacts)
            if count < size or most == 0:
                return

    async def head(self, stream: StreamId) -> tuple[Version, str] | None:
        """Return (version, hash) of the stream's last event, None when it has none."""
        rows = await self._rows("head", stream=stream)
        return (Version(rows[0]["version"]), rows[0]["head_hash"]) if rows else None

    async def wait_for_input(
        self,
        receipt: Receipt,
        timeout_s: float,
        *,
        projections: Sequence[str] | None = None,
    ) -> None:
        """Return once `projections`, None for every one, show the append.

        Raises NotCaughtUp after `timeout_s`, StreamParked when one of them stopped at the stream.
        """
        await self._wait(
            "input_reached", (receipt.partition, receipt.position), timeout_s, projections
        )
        await self._refuse_parked(receipt.stream, projections)

    async def wait_for_output(
        self,
        partition: Partition,
        position: Position,
        timeout_s: float,
        *,
        projections: Sequence[str] | None = None,
    ) -> None:
        """Return once `projections`, None for every one, have read up to `position` of the log.

        Raises NotCaughtUp after `timeout_s`.
        """
        await self._wait("output_reached", (partition, position), timeout_s, projections)

    async def sessions(
        self, *, tenant: str, user: str | None, status: str | None, limit: int, after: str | None
    ) -> list[SessionInfo]:
        """Return sessions, the latest active first, those behind session `after` if it is given."""
        rows = await self._rows(
            "sessions", tenant=tenant, user=user, status=status, limit=limit, after=after
        )
        return [SessionInfo(**row) for row in rows]

    async def _wait(
        self,
        statement: str,
        place: tuple[Partition, Position],
        timeout_s: float,
        projections: Sequence[str] | None,
    ) -> None:
        partition, position = place
        named = None if projections is None else list(projections)
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + timeout_s, _FIRST_PAUSE_S
        while True:
            left = max(_LEAST_S, deadline - loop.time())
            try:
                async with asyncio.timeout(left + _LEAST_S):
                    rows = await self._rows(
                        statement,
                        timeout_s=left,
                        partition=partition,
                        position=position,
                        projections=named,
                    )
            except TimeoutError:  # a lock, or a database that does not answer
                raise NotCaughtUp(partition, position, timeout_s) from None
            if next(iter(rows[0].values())):
                return
            if loop.time() + pause > deadline:
                raise NotCaughtUp(partition, position, timeout_s)
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _MOST_PAUSE_S)

    async def _refuse_parked(self, stream: StreamId, projections: Sequence[str] | None) -> None:
        named = None if projections is None else list(projections)
        for row in await self._rows("parked", stream=stream, projections=named):
            raise StreamParked(stream, row["projection"], row["version"])

    async def _rows(
        self, statement: str, *, timeout_s: float = _PATIENCE_S, **values: Any
    ) -> list[dict[str, Any]]:
        return await self.select(_SQL[statement], timeout_s=timeout_s, **values)

    async def select(
        self, statement: LiteralString, *, timeout_s: float = _PATIENCE_S, **values: Any
    ) -> list[dict[str, Any]]:
        """Return the rows of a statement. Raises Unavailable."""
        async with self._connection(timeout_s) as connection:
            cursor = connection.cursor(row_factory=dict_row, binary=True)
            await cursor.execute(statement, values)
            return await cursor.fetchall()

    @asynccontextmanager
    async def _connection(self, timeout_s: float) -> AsyncGenerator[AsyncConnection[Any]]:
        pool = await self._opened()
        try:
            async with pool.connection(timeout_s) as connection:
                # A connection that was cut without a word would be waited at for ever.
                async with asyncio.timeout(self._answer_s):
                    yield connection
        except TimeoutError as error:
            reason = f"it did not answer within {self._answer_s:g} s"
            raise Unavailable("Postgres", reason) from error
        except (UndefinedTable, InvalidSchemaName) as error:
            raise Unavailable("Postgres", "it has no tables: run `agentjournal init`") from error
        except Error as error:
            raise Unavailable("Postgres", error) from error

    async def _opened(self) -> AsyncConnectionPool[AsyncConnection[Any]]:
        async with self._opening:
            if self._pool is None:
                pool: AsyncConnectionPool[AsyncConnection[Any]] = AsyncConnectionPool(
                    self._settings.postgres,
                    kwargs={"autocommit": True, "application_name": "agentjournal client"},
                    min_size=1,
                    max_size=4,
                    open=False,
                    check=_check,
                )
                await pool.open()
                self._pool = pool
            return self._pool


async def _check(connection: AsyncConnection[Any]) -> None:
    """Raise an error when the server is gone; it is not asked while nothing came from it."""
    with DefaultSelector() as selector:
        selector.register(connection, EVENT_READ)
        came = selector.select(timeout=0)
    if came:  # its farewell, or the end
        await AsyncConnectionPool.check_connection(connection)


def recorded_of(stream: StreamId, row: dict[str, Any]) -> Recorded:
    """Return the event in a row of `events`, beside the `last_version` of its stream then.

    Raises IntegrityError when it is beyond that.
    """
    if row["version"] > row["last_version"]:
        raise IntegrityError(f"{stream}: version {row['version']} is beyond its head")
    return Recorded(
        stream=stream,
        version=Version(row["version"]),
        type=row["type"],
        raw_data=row["raw_data"],
        id=row["event_id"],
        source=row["source"],
        schema_version=row["schema_version"],
        data_encoding="json",
        append_id=row["append_id"],
        batch_index=row["batch_index"],
        batch_size=row["batch_size"],
        input_position=Position(row["input_position"]),
        recorded_at=written_time(row["recorded_at"]),
        rules=1,
        prevhash="",
        hash=row["hash"],
        time=row["time"],
        tokens=row["tokens"],
        agent=row["agent"],
        worker=row["worker"],
        correlation_id=row["correlation_id"],
        causation_id=row["causation_id"],
        traceparent=row["traceparent"],
        fence=row["fence"],
        partition=Partition(row["partition"]),
        position=Position(row["position"]),
    )
