"""Recall in the read models: passages by their words and by their vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from agentjournal.ids import StreamId, Version, parse_stream
from agentjournal.memory.embedding import vector_text
from agentjournal.memory.facts import Learned, Promoted, Retracted, Said, current_facts
from agentjournal.memory.recalls import (
    Asked,
    Event,
    Hit,
    PlaceOfPassage,
    Texts,
    holding,
    is_enough,
    told,
)
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
        while True:
            found = await self._found(asked)
            hits = told(asked, found)
            if fact_ids := [hit.ref for hit in hits if hit.tier == "fact"]:
                hits = holding(hits, await self._holding(asked.entity, fact_ids))
            if is_enough(asked, len(found), len(hits)):
                return hits
            asked = asked.further()

    async def texts(self, entities: Sequence[StreamId], events: Collection[Event]) -> Texts:
        """Return all passages of events. As the port."""
        rows = await self._views.select(
            _SQL["texts"],
            entities=list(entities),
            streams=[stream for stream, _ in events],
            versions=[version for _, version in events],
        )
        return {(StreamId(row["stream"]), Version(row["version"])): row["texts"] for row in rows}

    async def _found(self, asked: Asked) -> list[Hit]:
        """Return what is found by words, and what by vectors: each is told the other measure."""
        if asked.vector is None or not await self.can_compare():
            return await self._by_words(asked)
        # Both are looked for side by side, by words while the vector is still being made.
        words, near = await asyncio.gather(self._by_words(asked), self._near(asked, asked.vector))
        hits = {hit.place: hit for hit in near}
        unlike = [hit for hit in words if hit.place not in hits]
        likeness = await self._likeness(asked, await asked.vector, unlike)
        hits |= {hit.place: replace(hit, likeness=likeness.get(hit.place)) for hit in unlike}
        lexical = {hit.place: hit.lexical for hit in words}
        return [replace(hit, lexical=lexical.get(place, 0.0)) for place, hit in hits.items()]

    async def _by_words(self, asked: Asked) -> list[Hit]:
        rows = await self._views.select(
            _SQL["lexical"], entity=asked.entity, terms=list(asked.terms), most=asked.most
        )
        return [_hit(row) for row in rows]

    async def _near(self, asked: Asked, vector: Awaitable[Sequence[float]]) -> list[Hit]:
        rows = await self._views.select(
            _SQL["near"],
            entity=asked.entity,
            vector=vector_text(await vector),
            model=asked.model,
            most=asked.most,
        )
        return [_hit(row) for row in rows]

    async def _likeness(
        self, asked: Asked, vector: Sequence[float], hits: Sequence[Hit]
    ) -> Mapping[PlaceOfPassage, float]:
        """Return the cosine of hits that have a vector."""
        if not hits:
            return {}
        streams, versions, numbers = zip(*(hit.place for hit in hits), strict=True)
        rows = await self._views.select(
            _SQL["likeness"],
            vector=vector_text(vector),
            model=asked.model,
            streams=list(streams),
            versions=list(versions),
            numbers=list(numbers),
        )
        return {(row["stream"], row["version"], row["number"]): row["likeness"] for row in rows}

    async def can_compare(self) -> bool:
        """Return whether Postgres holds vectors. As the port."""
        if not self._has_vectors:
            [row] = await self._views.select(_SQL["has_vectors"])
            self._has_vectors = row["has_vectors"]
        return self._has_vectors

    async def _holding(self, entity: StreamId, fact_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the first ids of those facts that hold now, by every id that says one."""
        kind, tenant, name = parse_stream(entity)
        rows = await self._views.select(
            _SQL["said"], tenant=tenant, kind=kind, name=name, fact_ids=list(fact_ids)
        )
        said = Said(
            [_of(Learned, row) for row in rows if row["what"] == "learned"],
            [_of(Retracted, row) for row in rows if row["what"] == "retracted"],
            [_promoted(row) for row in rows if row["what"] == "promoted"],
        )
        held = current_facts(said, now())
        return {each.fact_id: fact.said[0].fact_id for fact in held for each in fact.said}


T = TypeVar("T", Learned, Retracted)


def _of(kind: type[T], row: Mapping[str, Any]) -> T:
    return kind(**{each.name: row[each.name] for each in fields(kind)})


def _promoted(row: Mapping[str, Any]) -> Promoted:
    names = ("session_id", "extractor", "extractor_order", "recorded_at")
    return Promoted(through_version=row["said_version"], **{name: row[name] for name in names})


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
