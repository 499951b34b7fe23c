"""Recall in the read models: passages by their words and by their vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from agentjournal.ids import StreamId, Version, parse_stream
from agentjournal.memory.embedding import vector_text
from agentjournal.memory.recalls import Asked, Found, Hit, holding
from agentjournal.postgres_views import PostgresViews
from agentjournal.sql_statements import read_statements

_SQL = read_statements("agentjournal", "recall.sql")


class PostgresRecalls:
    """Finds passages in the read models."""

    def __init__(self, views: PostgresViews) -> None:
        self._views = views
        self._has_vectors = False  # asked again until there are some: the extension may come

    async def find(self, asked: Asked) -> Found:
        """Return the candidates. As the port."""
        given: dict[str, Any] = {
            "entity": asked.entity,
            "terms": list(asked.terms),
            "most": asked.most,
        }
        rows, facts = await asyncio.gather(self._rows(asked, given), self._holding(asked.entity))
        hits = holding(map(_hit, rows), facts)
        return Found(hits, rows[0]["lowest"] if rows else None)

    async def _rows(self, asked: Asked, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        if asked.vector is None or not await self._can_compare():
            return await self._views.select(_SQL["lexical"], **given)
        vector = vector_text(asked.vector)
        return await self._views.select(_SQL["fused"], **given, vector=vector, model=asked.model)

    async def _can_compare(self) -> bool:
        if not self._has_vectors:
            [row] = await self._views.select(_SQL["has_vectors"])
            self._has_vectors = row["has_vectors"]
        return self._has_vectors

    async def _holding(self, entity: StreamId) -> Mapping[str, str]:
        kind, tenant, name = parse_stream(entity)
        rows = await self._views.select(_SQL["holding"], tenant=tenant, kind=kind, id=name)
        return {each: row["fact_id"] for row in rows for each in row["fact_ids"]}


def _hit(row: Mapping[str, Any]) -> Hit:
    return Hit(
        stream=StreamId(row["stream"]),
        version=Version(row["version"]),
        number=row["number"],
        tier=row["tier"],
        role=row["role"],
        ref=row["ref"],
        event_id=row["event_id"],
        text=row["text"],
        said_at=row["said_at"],
        lexical=row["lexical"],
        likeness=row["likeness"],
    )
