"""The schema of the database: numbered SQL files, applied once each, in order, under a lock."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import NamedTuple

from psycopg import AsyncConnection, OperationalError

from agentjournal.errors import IntegrityError, Unavailable
from agentjournal.settings import Settings

_LOCK = 7_310_934_110_225  # any fixed number: two who migrate at once wait for each other

_TABLE = """
CREATE TABLE IF NOT EXISTS public.agentjournal_migrations (
    number int PRIMARY KEY, name text NOT NULL, digest text NOT NULL
)
"""


class Migration(NamedTuple):
    """A file `0001_what_it_does.sql`."""

    number: int
    name: str
    sql: bytes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.sql).hexdigest()


def read_migrations() -> list[Migration]:
    """Return the migrations of this release, in order."""
    folder = files("consumers").joinpath("migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [
        Migration(
            int(name[:4]),
            name.removesuffix(".sql"),
            folder.joinpath(name).read_bytes(),
        )
        for name in names
    ]


async def migrate(settings: Settings) -> list[str]:
    """Apply what is missing, each file in a transaction of its own; return their names.

    Raises IntegrityError when an applied file was changed since or the database is newer than this
    release, Unavailable when Postgres cannot be reached.
    """
    try:
        connection = await AsyncConnection.connect(settings.postgres, autocommit=True)
    except OperationalError as error:
        raise Unavailable("Postgres", error) from error
    async with connection:
        await connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
        await connection.execute(_TABLE)
        cursor = await connection.execute(
            "SELECT number, digest FROM public.agentjournal_migrations"
        )
        applied = {row[0]: row[1] for row in await cursor.fetchall()}
        migrations = read_migrations()
        _check(migrations, applied)
        missing = [m for m in migrations if m.number not in applied]
        for migration in missing:
            await _apply(connection, migration)
        return [migration.name for migration in missing]


def _check(migrations: list[Migration], applied: dict[int, str]) -> None:
    known = {m.number for m in migrations}
    if newer := sorted(set(applied) - known):
        raise IntegrityError(f"the database has migrations {newer}: install the newer release")
    for migration in migrations:
        if applied.get(migration.number, migration.digest) != migration.digest:
            raise IntegrityError(f"migration {migration.name} was changed after it was applied")


async def _apply(connection: AsyncConnection, migration: Migration) -> None:
    async with connection.transaction():
        # The text comes from our own package, never from a caller: as good as in the source.
        await connection.execute(migration.sql)
        await connection.execute(
            "INSERT INTO public.agentjournal_migrations VALUES (%s, %s, %s)",
            (migration.number, migration.name, migration.digest),
        )
