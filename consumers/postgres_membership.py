"""Which partitions are whose: the processes of a role divide them by who is alive.

This is advice only. What keeps two owners apart is the epoch of a partition's checkpoint.
"""

from __future__ import annotations

import os
import secrets
import socket

from agentjournal.sql_statements import read_statements
from consumers.postgres_pool import PostgresPool

_SQL = read_statements("consumers", "membership.sql")
DEAD_AFTER_S = 5.0


def new_member() -> str:
    """Return a name for this process: host, process id, and what makes it unique."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


class PostgresMembership:
    """One member of a role. Every call raises OutageError when Postgres is away."""

    def __init__(self, pool: PostgresPool, role: str, member: str) -> None:
        self._pool, self._role, self.member = pool, role, member

    async def heartbeat(self) -> list[str]:
        """Say that this member is alive; return all that are, in order."""
        async with self._pool.connection() as connection:
            await connection.execute(_SQL["heartbeat"], {"role": self._role, "member": self.member})
            cursor = await connection.execute(
                _SQL["alive"], {"role": self._role, "dead_after_s": DEAD_AFTER_S}
            )
            alive = [row[0] for row in await cursor.fetchall()]
        if gone := [member for member in alive if _died_here(member)]:
            await self._leave(gone)
        return [member for member in alive if member not in gone]

    async def leave(self) -> None:
        """Say that this member is gone, so that others need not wait to take its place."""
        await self._leave([self.member])

    async def _leave(self, members: list[str]) -> None:
        async with self._pool.connection() as connection:
            await connection.execute(_SQL["leave"], {"role": self._role, "members": members})


def _died_here(member: str) -> bool:
    """Whether a member of this host has no process any more: no need to wait for its silence."""
    host, pid, _ = member.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
