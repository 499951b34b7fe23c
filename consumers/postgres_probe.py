"""Asking Postgres whether it answers."""

from __future__ import annotations

from typing import Any

from psycopg import AsyncConnection, Error

from agentjournal.settings import Settings
from streams.ports import OutageError

_CONNECT_S, _LOST_MS = 5, 10_000


class PostgresProbe:
    """A connection of its own, so that work under way holds up no question."""

    def __init__(self, settings: Settings) -> None:
        self._address = settings.postgres
        self._connection: AsyncConnection[Any] | None = None

    async def ask(self) -> None:
        """Return once Postgres answered. Raises OutageError."""
        try:
            if self._connection is None:
                self._connection = await AsyncConnection[Any].connect(
                    self._address,
                    autocommit=True,
                    application_name="agentjournal health",
                    connect_timeout=_CONNECT_S,
                    tcp_user_timeout=_LOST_MS,
                )
            await self._connection.execute("SELECT 1")
        except (Error, OSError) as error:
            await self.close()
            raise OutageError(f"Postgres: {error}") from error

    async def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()
