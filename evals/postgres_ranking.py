"""A Postgres of its own that lives as long as it is asked, and its own full-text ranking."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from evals.data import Absent
from evals.searching import Score
from local.child import Child
from local.errors import StackError
from local.home import Home, open_home
from local.ports import Reservations, choose_ports
from local.postgres_server import PostgresServer
from local.server import wait_ready

# Any of the words will do, as in the other methods; as it is, all would have to be there.
RANK = """
SELECT ts_rank(to_tsvector('english', text), query)
FROM unnest(%s::text[]) WITH ORDINALITY AS texts (text, place),
    CAST(replace(plainto_tsquery('english', %s)::text, '&', '|') AS tsquery) AS query
ORDER BY place
"""


@contextmanager
def postgres() -> Generator[str]:
    """Give the address of a server that is empty; raises Absent where none can be started."""
    with TemporaryDirectory() as folder, closing(Reservations()) as reserved:
        home = open_home(Path(folder) / "stack")
        try:
            server = PostgresServer(home, choose_ports({}, reserved.take)["postgres"])
            server.prepare()
            child = Child(home, server.name, server.program, restart=False)
            child.start()
        except StackError as error:
            raise Absent(f"no Postgres: {error}") from error
        try:
            _wait(server, child, home)
            yield server.address
        finally:
            child.stop()


def _wait(server: PostgresServer, child: Child, home: Home) -> None:
    try:
        wait_ready(server, child, home, lambda: False)
    except StackError as error:
        raise Absent(f"no Postgres: {error}") from error


@contextmanager
def ts_rank(address: str) -> Generator[Score]:
    """Give the score of `ts_rank`, as the server there computes it."""
    with psycopg.connect(address) as connection:

        def score(query: str, texts: Sequence[str]) -> list[float]:
            rows = connection.execute(RANK, (list(texts), query)).fetchall()
            return [float(rank) for (rank,) in rows]

        yield score
