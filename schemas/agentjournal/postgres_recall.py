"""Recall in the read models: passages by their words and by their vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from agentjournal.ids import StreamId, Version, parse_stream
from agentjournal.memory.embedding import vector_text
from agentjournal.memory.facts import Learned, Promoted, Retracted, Said, current_facts
from agentjournal.memory.recalls import Asked, Event, Hit, Texts, holding
from agentjournal.postgres_views import PostgresViews
from agentjournal.sql_statements import read_statements
from agentjournal.working_memory import now

_SQL = read_statements("agentjournal", "recall.sql")


class PostgresRecalls:
    """Finds passages in the read models."""

    def __init__(self, views: PostgresViews) -> None:
        self._views = views
        self._has_vectors = False  # asked again until there are some: the extension may come

    async def find(self, asked: Asked) -> Sequence[Hit]:
        """Return the candidates. As the port."""
        given: dict[str, Any] = {
            "entity": asked.entity,
            "terms": list(asked.terms),
            "most": asked.most,
        }
        rows = await self._rows(asked, given)
        hits = [_hit(row) for row in rows]
        if fact_ids := [hit.ref for hit in hits if hit.tier == "fact"]:
            hits = holding(hits, await self._holding(asked.entity, fact_ids))
        return hits

    async def texts(self, entities: Sequence[StreamId], events: Collection[Event]) -> Texts:
        """Return all passages of events. As the port."""
        rows = await self._views.select(
            _SQL["texts"],
            entities=list(entities),
            streams=[stream for stream, _ in events],
            versions=[version for _, version in events],
        )
        return {(StreamId(row["stream"]), Version(row["version"])): row["texts"] for row in rows}

    async def _rows(self, asked: Asked, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        if asked.vector is None or not await self.can_compare():
            return await self._views.select(_SQL["lexical"], **given)
        vector = vector_text(asked.vector)
        return await self._views.select(_SQL["fused"], **given, vector=vector, model=asked.model)

    async def can_compare(self) -> bool:
        """Return whether Postgres holds vectors. As the port."""
        if not self._has_vectors:
            [row] = await self._views.select(_SQL["has_vectors"])
            self._has_vectors = row["has_vectors"]
        return self._has_vectors

    async def _holding(self, entity: StreamId, fact_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the first ids of those facts that hold now, by every id that says one."""
        kind, tenant, name = parse_stream(entity)
        whose: dict[str, Any] = {"tenant": tenant, "kind": kind, "name": name}
        statements, retractions = await asyncio.gather(
            self._views.select(_SQL["statements"], **whose, fact_ids=list(fact_ids)),
            self._views.select(_SQL["retractions"], **whose),
        )
        session_ids = sorted({row["session_id"] for row in statements} - {""})
        promotions = await self._views.select(
            _SQL["promotions"], tenant=tenant, session_ids=session_ids
        )
        said = Said(
            [Learned(**row) for row in statements],
            [Retracted(**row) for row in retractions],
            [Promoted(**row) for row in promotions],
        )
        held = current_facts(said, now())
        return {each.fact_id: fact.said[0].fact_id for fact in held for each in fact.said}


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
