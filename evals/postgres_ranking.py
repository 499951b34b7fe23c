"""Postgres's own full-text ranking, in a server of its own that lives as long as it is asked."""

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
from local.home import open_home
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
def ts_rank() -> Generator[Score]:
    """Give the score of `ts_rank`; raises Absent where no server can be started."""
    try:
        with _postgres() as address, psycopg.connect(address) as connection:

            def score(query: str, texts: Sequence[str]) -> list[float]:
                rows = connection.execute(RANK, (list(texts), query)).fetchall()
                return [float(rank) for (rank,) in rows]

            yield score
    except StackError as error:
        raise Absent(f"no Postgres: {error}") from error


@contextmanager
def _postgres() -> Generator[str]:
    with TemporaryDirectory() as folder, closing(Reservations()) as reserved:
        home = open_home(Path(folder) / "stack")
        server = PostgresServer(home, choose_ports({}, reserved.take)["postgres"])
        server.prepare()
        child = Child(home, server.name, server.program, restart=False)
        child.start()
        try:
            wait_ready(server, child, home, lambda: False)
            yield server.address
        finally:
            child.stop()
