"""SQL under the analyst's role: one statement, read-only, streamed."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import psycopg
from psycopg import sql
from psycopg.adapt import Loader
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGconn
from psycopg.types.string import TextLoader

from agentjournal.errors import Unavailable
from agentjournal.settings import Settings
from commands.errors import CommandFailed, NoTables
from commands.harmless import one_line

ROLE = "agentjournal_analyst"
SCHEMA = "agentjournal"
TIMEOUT_S = 60

_HAS_SCHEMA = "SELECT 1 FROM pg_namespace WHERE nspname = %s"
_CHUNK = 500  # rows that come at a time

# As Postgres writes them: Python's own types cannot hold all of their values.
_AS_TEXT = ("date", "time", "timetz", "timestamp", "timestamptz", "interval")


class ResultColumn(NamedTuple):
    """A column of a result."""

    name: str
    is_number: bool


class Json(str):
    """A value of type json or jsonb, as Postgres writes it."""

    __slots__ = ()


class _JsonLoader(Loader):
    def load(self, data: Any) -> Json:
        return Json(bytes(data).decode())


@dataclass(frozen=True, slots=True)
class Result:
    """What a statement gives; a statement without rows has no columns."""

    columns: Sequence[ResultColumn]
    rows: Iterator[tuple[Any, ...]]


_NUMBERS = ("int2", "int4", "int8", "float4", "float8", "numeric", "oid")


@contextmanager
def query(settings: Settings, statement: str) -> Generator[Result]:
    """Run one statement as the analyst; rows come while they are read.

    Raises CommandFailed with Postgres's words and the place in the statement,
    NoTables, Unavailable.
    """
    try:
        connection = psycopg.connect(settings.postgres, application_name="agentjournal sql")
    except psycopg.OperationalError as error:
        raise Unavailable("Postgres", one_line(str(error))) from error
    try:
        with connection:
            _become_analyst(connection)
            for name in _AS_TEXT:
                connection.adapters.register_loader(name, TextLoader)
            for name in ("json", "jsonb"):
                connection.adapters.register_loader(name, _JsonLoader)
            with connection.cursor() as cursor, _result(cursor, statement) as result:
                yield result
    except psycopg.Error as error:
        raise CommandFailed(_words(error, statement)) from error


def _become_analyst(connection: psycopg.Connection[Any]) -> None:
    connection.read_only = True
    # Once a statement has read, nothing in the transaction makes it a writing one.
    if not connection.execute(_HAS_SCHEMA, (SCHEMA,)).fetchone():
        raise NoTables
    for setting in (
        sql.SQL("SET search_path = {}").format(sql.Identifier(SCHEMA)),
        sql.SQL("SET statement_timeout = {}").format(sql.Literal(f"{TIMEOUT_S}s")),
        sql.SQL("SET ROLE {}").format(sql.Identifier(ROLE)),
    ):
        connection.execute(setting)


@contextmanager
def _result(cursor: psycopg.Cursor[Any], statement: str) -> Generator[Result]:
    raw = statement.encode()
    columns = _described(cursor.connection.pgconn, raw)
    # The extended protocol takes one statement only, so none can leave the role and go on.
    if not columns:
        try:
            cursor.execute(raw, binary=True)  # what is binary goes by the extended protocol
        except psycopg.ProgrammingError as error:
            if error.sqlstate is None:  # the driver's own, not the database's
                raise CommandFailed("COPY is for `agentjournal psql`") from error
            raise
        yield Result((), iter(()))
        return
    # Left open, the stream holds the connection's lock, and ending the transaction waits for it.
    size = _CHUNK if psycopg.capabilities.has_stream_chunked() else 1
    stream = cast("Generator[tuple[Any, ...]]", cursor.stream(raw, size=size))
    with closing(stream) as rows:
        yield Result(columns, rows)


def _described(connection: PGconn, statement: bytes) -> list[ResultColumn]:
    """Return the columns that the statement will give; it is not run yet."""
    for described in (connection.prepare(b"", statement), connection.describe_prepared(b"")):
        if described.status == ExecStatus.FATAL_ERROR:
            raise error_from_result(described)
    numbers = {psycopg.adapters.types[name].oid for name in _NUMBERS}
    return [
        ResultColumn((described.fname(at) or b"").decode(), described.ftype(at) in numbers)
        for at in range(described.nfields)
    ]


def _words(error: psycopg.Error, statement: str) -> str:
    diagnosis = error.diag
    words = diagnosis.message_primary or str(error) or type(error).__name__
    notes: list[str] = []
    if diagnosis.statement_position:
        at = int(diagnosis.statement_position) - 1
        before = statement[:at]
        column = at - (before.rfind("\n") + 1) + 1
        notes.append(f"line {before.count(chr(10)) + 1}, column {column}")
    if diagnosis.message_detail:
        notes.append(diagnosis.message_detail)
    if diagnosis.message_hint:
        notes.append(f"hint: {diagnosis.message_hint}")
    return one_line(f"{words} ({'; '.join(notes)})" if notes else words)
