"""Events of many streams at once, from the read models."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from agentjournal.envelope import Recorded
from agentjournal.errors import StreamParked
from agentjournal.ids import StreamId, Version
from agentjournal.postgres_views import PostgresViews, recorded_of
from agentjournal.sql_statements import read_statements

_SQL = read_statements("agentjournal", "live.sql")
_SHARE = 200  # events of one stream in a look


class PostgresLive:
    """Reads for those who follow, on the connections of the views."""

    def __init__(self, views: PostgresViews) -> None:
        self._views = views

    async def heads(self, streams: Collection[StreamId]) -> Mapping[StreamId, Version]:
        """As the port."""
        rows = await self._views.select(_SQL["heads"], streams=list(streams))
        return {row["stream"]: Version(row["version"]) for row in rows}

    async def behind(self, versions: Mapping[StreamId, Version], most: int) -> Sequence[Recorded]:
        """As the port."""
        rows = await self._views.select(
            _SQL["behind"],
            streams=list(versions),
            versions=list(versions.values()),
            share=_SHARE,
            most=most,
        )
        rows.sort(key=lambda row: row["version"])
        return [recorded_of(row["stream"], row) for row in rows]

    async def read(self, stream: StreamId, after: int, most: int) -> Sequence[Recorded]:
        """As the port."""
        return [each async for each in self._views.read_stream(stream, after=after, most=most)]

    async def parked(self, streams: Collection[StreamId]) -> Mapping[StreamId, StreamParked]:
        """As the port."""
        rows = await self._views.select(_SQL["parked"], streams=list(streams))
        return {row["stream"]: StreamParked(*row.values()) for row in rows}

    async def appended(self, stream: StreamId, append_ids: Collection[str]) -> Collection[str]:
        """As the port."""
        rows = await self._views.select(
            _SQL["appended"], stream=stream, append_ids=list(append_ids)
        )
        return {row["append_id"] for row in rows}
