"""Recall in a log in memory: by words alone, over the rows that the servers' fold comes to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agentjournal.ids import StreamId, Version
from agentjournal.memory.entity_reading import EntityReading
from agentjournal.memory.facts import Said, current_facts
from agentjournal.memory.ranking import bm25_of
from agentjournal.memory.recalls import Asked, Found, Hit, holding
from agentjournal.testing.world import World

_POSTING = re.compile(r"'([^']+)':1([A-D])")
_OFTEN = "-DCBA"


class MemoryRecalls:
    """Finds passages; what it says of facts is what their stream says."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def find(self, asked: Asked) -> Found:
        """Return the candidates. As the port; vectors are not looked at."""
        rows = [row for row in self._passages(asked.entity) if not self._is_gone(row)]
        scores = bm25_of(asked.terms, [_terms(row["terms"]) for row in rows])
        hits = [_hit(row, score) for row, score in zip(rows, scores, strict=True) if score > 0]
        hits = holding(hits, self._holding(asked.entity))
        return Found(sorted(hits, key=lambda hit: (-hit.lexical, hit.place))[: asked.most])

    def _passages(self, entity: StreamId) -> list[Mapping[str, Any]]:
        streams = {
            row["stream"]
            for row in self._world.cores.rows("recall_streams")
            if row.get("own_scope") == entity
            or entity in (row.get("entity_scopes") or "").split("\n")
        }
        return [row for row in self._world.cores.rows("passages") if row["stream"] in streams]

    def _is_gone(self, row: Mapping[str, Any]) -> bool:
        return any(
            cut["stream"] == row["stream"]
            and cut["to_version"] < row["version"] < cut["version"]
            and cut.get("tier") in {None, row["tier"]}
            and cut.get("message_id") in {None, row["ref"]}
            for cut in self._world.cores.rows("recall_cuts")
        )

    def _holding(self, entity: StreamId) -> Mapping[str, str]:
        reading = EntityReading()
        for recorded in self._world.streams.get(entity, ()):
            reading.add(recorded)
        said = Said([known.learned for known in reading.facts], reading.retractions)
        facts = current_facts(said, self._world.clock.now())
        return {each.fact_id: fact.said[0].fact_id for fact in facts for each in fact.said}


def _terms(postings: str) -> dict[str, int]:
    return {term: _OFTEN.index(label) for term, label in _POSTING.findall(postings)}


def _hit(row: Mapping[str, Any], score: float) -> Hit:
    return Hit(
        stream=StreamId(row["stream"]),
        version=Version(row["version"]),
        number=row["number"],
        tier=row["tier"],
        role=row["role"],
        ref=row["ref"],
        event_id=row["event_id"],
        text=row["text"],
        said_at=datetime.fromisoformat(row["said_at"]),
        lexical=score,
    )
