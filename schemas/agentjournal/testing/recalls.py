"""Recall in a log in memory: by words alone, over the rows that the servers' fold comes to."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from agentjournal.ids import StreamId, Version
from agentjournal.memory.known import holding as holding_now
from agentjournal.memory.ranking import Counted, Document, bm25_of
from agentjournal.memory.recalls import Asked, Event, Hit, Texts, holding, is_enough, told
from agentjournal.testing.facts import MemoryFacts
from agentjournal.testing.world import World

_POSTING = re.compile(r"'([^']+)':1([A-D])")
_OFTEN = "-DCBA"


class MemoryRecalls:
    """Finds passages."""

    def __init__(self, world: World) -> None:
        self._world, self._facts = world, MemoryFacts(world)

    async def find(self, asked: Asked) -> Sequence[Hit]:
        """Return the candidates. As the port; vectors are not looked at."""
        streams = self._streams(asked.entity)
        rows = self._shown(asked.entity)
        among = Counted(*(sum(row.get(n) or 0 for row in streams) for n in ("passages", "terms")))
        scores = bm25_of(asked.terms, [_document(row) for row in rows], among)
        hits = [_hit(row, score) for row, score in zip(rows, scores, strict=True) if score > 0]
        hits.sort(key=lambda hit: (-hit.lexical, hit.place))
        is_told = any(hit.tier == "fact" for hit in hits)
        first_ids = await self._holding(asked.entity) if is_told else {}
        while True:
            found = hits[: asked.most]
            kept = holding(told(asked, found), first_ids)
            if is_enough(asked, len(found), len(kept)):
                return kept
            asked = asked.further()

    async def _holding(self, entity: StreamId) -> Mapping[str, str]:
        """Return the first ids of the facts that hold now, by every id that says one."""
        known = await self._facts.known(entity, None)
        facts = holding_now(known.facts, None, self._world.clock.now())
        return {each: fact.fact_id for fact in facts for each in fact.fact_ids}

    async def can_compare(self) -> bool:
        """Return that there are no vectors. As the port."""
        return False

    async def texts(self, entities: Sequence[StreamId], events: Collection[Event]) -> Texts:
        """Return all passages of events. As the port."""
        texts: dict[Event, list[str]] = {}
        rows = {_place(row): row for entity in entities for row in self._shown(entity)}
        for _, row in sorted(rows.items()):
            event = StreamId(row["stream"]), Version(row["version"])
            if event in events:
                texts.setdefault(event, []).append(row["text"])
        return texts

    def _shown(self, entity: StreamId) -> list[Mapping[str, Any]]:
        streams = {row["stream"] for row in self._streams(entity)}
        rows = self._world.cores.rows("passages")
        return [row for row in rows if row["stream"] in streams and not self._is_gone(row)]

    def _streams(self, entity: StreamId) -> list[Mapping[str, Any]]:
        return [
            row
            for row in self._world.cores.rows("recall_streams")
            if row.get("own_scope") == entity
            or entity in (row.get("entity_scopes") or "").splitlines()
        ]

    def _is_gone(self, row: Mapping[str, Any]) -> bool:
        return any(
            cut["stream"] == row["stream"]
            and cut["to_version"] < row["version"] < cut["version"]
            and cut.get("tier") in {None, row["tier"]}
            and cut.get("message_id") in {None, row["ref"]}
            for cut in self._world.cores.rows("recall_cuts")
        )


def _document(row: Mapping[str, Any]) -> Document:
    postings = _POSTING.findall(row["terms"])
    return Document({term: _OFTEN.index(label) for term, label in postings}, row["length"])


def _place(row: Mapping[str, Any]) -> tuple[str, int, int]:
    return row["stream"], row["version"], row["number"]


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
