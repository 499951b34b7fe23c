"""The notes of a session in the read models."""

from __future__ import annotations

from agentjournal.errors import StreamParked, Unavailable
from agentjournal.ids import Partition, Position, StreamId, Version, parse_stream
from agentjournal.ports import READ_FOR_NOTES
from agentjournal.postgres_views import PostgresViews
from agentjournal.sql_statements import read_statements
from agentjournal.stored import written_time
from agentjournal.waiting import wait_until
from agentjournal.working_memory import Needed, Note, StoredNotes

_SQL = read_statements("agentjournal", "notes.sql")


class PostgresNotes:
    """Reads notes with the exact bytes of their values."""

    def __init__(self, views: PostgresViews) -> None:
        self._views = views

    async def wait_until(self, needed: Needed, timeout_s: float) -> None:
        """Return once the read models show what is needed. Raises NotCaughtUp, StreamParked."""
        await wait_until(self._views, needed, READ_FOR_NOTES, timeout_s)

    async def read(self, stream: StreamId, partition: Partition) -> StoredNotes:
        """Return the notes as they stand now. Raises StreamParked, Unavailable."""
        _, tenant, session_id = parse_stream(stream)
        rows = await self._views.select(
            _SQL["notes"],
            stream=stream,
            tenant=tenant,
            session_id=session_id,
            partition=partition,
        )
        if not rows:
            raise Unavailable("Postgres", "it has no read models: run `agentjournal init`")
        if rows[0]["parked"] is not None:
            raise StreamParked(stream, rows[0]["parked"], rows[0]["parked_version"])
        noted = [row for row in rows if row["key"] is not None]
        whole = [row for row in noted if row["raw_data"] is not None]
        place = rows[0]["next_position"]
        return StoredNotes(
            {row["key"]: Note(written_time(row["recorded_at"]), row["raw_data"]) for row in whole},
            is_whole=len(whole) == len(noted),
            next_position=None if place is None else Position(place),
            through=Version(rows[0]["through"]),
        )
