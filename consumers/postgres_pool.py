"""Connections to Postgres that come back by themselves after an outage."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Self

from psycopg import AsyncConnection, Error, InterfaceError, OperationalError
from psycopg.errors import IdleInTransactionSessionTimeout
from psycopg_pool import AsyncConnectionPool

from agentjournal.settings import Settings
from streams.ports import OutageError

_IDLE_MS = 4_000


class PostgresPool:
    """A small pool in autocommit mode; use it as an async context manager."""

    def __init__(self, settings: Settings, *, name: str, size: int = 3) -> None:
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] = AsyncConnectionPool(
            settings.postgres,
            kwargs={
                "autocommit": True,
                "application_name": f"agentjournal {name}",
                # A process that is stopped in the middle of a transaction must not hold its locks
                # against the one that takes its place.
                "options": f"-c idle_in_transaction_session_timeout={_IDLE_MS}",
            },
            min_size=size,
            max_size=size,
            open=False,
            timeout=10,
            reconnect_timeout=5,
            check=AsyncConnectionPool.check_connection,
        )

    async def __aenter__(self) -> Self:
        await self._pool.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close(timeout=2)

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[AsyncConnection[Any]]:
        """Give a connection for one piece of work.

        Raises OutageError when Postgres is away or went away meanwhile.
        """
        try:
            async with self._pool.connection() as connection:
                yield connection
        except Error as error:
            if is_trouble(error):
                raise OutageError(f"Postgres: {reason_of(error)}") from error
            raise


# Classes of SQLSTATE that are the database's trouble, whatever the statement holds: connection,
# rollback, resources, prerequisite state, intervention, system.
_TROUBLE = frozenset({"08", "40", "53", "55", "57", "58"})


def is_trouble(error: Error) -> bool:
    """Whether the same statement may do when it is tried again later."""
    if error.sqlstate is None:  # the connection broke, or there was none to be had
        return isinstance(error, (OperationalError, InterfaceError))
    return error.sqlstate[:2] in _TROUBLE or isinstance(error, IdleInTransactionSessionTimeout)


def reason_of(error: BaseException) -> str:
    """Return why a statement or a fold failed, in words without the row: logs hold no payloads."""
    if isinstance(error, Error) and error.diag.message_primary:
        return error.diag.message_primary
    return str(error)
