"""Recall in a log in memory: by words alone, over the rows that the servers' fold comes to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agentjournal.ids import StreamId, Version
from agentjournal.memory.known import holding as holding_now
from agentjournal.memory.ranking import bm25_of
from agentjournal.memory.recalls import Asked, Found, Hit, holding
from agentjournal.testing.facts import MemoryFacts
from agentjournal.testing.world import World

_POSTING = re.compile(r"'([^']+)':1([A-D])")
_OFTEN = "-DCBA"


class MemoryRecalls:
    """Finds passages."""

    def __init__(self, world: World) -> None:
        self._world, self._facts = world, MemoryFacts(world)

    async def find(self, asked: Asked) -> Found:
        """Return the candidates. As the port; vectors are not looked at."""
        rows = [row for row in self._passages(asked.entity) if not self._is_gone(row)]
        scores = bm25_of(asked.terms, [_terms(row["terms"]) for row in rows])
        hits = [_hit(row, score) for row, score in zip(rows, scores, strict=True) if score > 0]
        known = await self._facts.known(asked.entity, None)
        facts = holding_now(known.facts, None, self._world.clock.now())
        hits = holding(hits, {each: fact.fact_id for fact in facts for each in fact.fact_ids})
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
