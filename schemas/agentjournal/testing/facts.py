"""Facts of a log in memory, by the rules in Python that the views follow in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from agentjournal.codec import decode
from agentjournal.events import Entity, Evidence
from agentjournal.ids import StreamId, Version, parse_stream
from agentjournal.memory.facts import Held, Learned, Promoted, Retracted, Said, facts_of
from agentjournal.memory.known import Fact, Known
from agentjournal.testing.world import World

Row = Mapping[str, Any]

_NEVER = datetime.fromisoformat("9999-12-31T00:00:00+00:00")


class MemoryFacts:
    """Facts, computed when they are asked for."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def known(self, entity: StreamId, known_at: datetime | None) -> Known:
        """Return all facts as they were known at a moment, None: now. As the port."""
        kind, tenant, name = parse_stream(entity)
        rows = {table: self._rows(table, tenant) for table in ("facts", "fact_retractions")}
        of_entity = {
            table: [row for row in its if (row["entity_kind"], row["entity_id"]) == (kind, name)]
            for table, its in rows.items()
        }
        said = said_of(
            of_entity["facts"], of_entity["fact_retractions"], self._rows("promotions", tenant)
        )
        written = {row["version"]: row for row in of_entity["facts"]}
        about = Entity.model_validate({"kind": kind, "id": name})
        held = facts_of(said if known_at is None else said.known(known_at))
        facts = [_fact(about, each, written) for each in held]
        facts.sort(key=lambda fact: (fact.attribute, fact.valid_from, fact.version))
        return Known(Version(len(self._world.streams.get(entity, ()))), facts)

    def _rows(self, table: str, tenant: str) -> list[Row]:
        return [row for row in self._world.cores.rows(table) if row["tenant"] == tenant]


def said_of(facts: Sequence[Row], retractions: Sequence[Row], promotions: Sequence[Row]) -> Said:
    """Return what rows of the read model say."""
    return Said(
        [_learned(row) for row in facts],
        [
            Retracted(
                row["fact_id"],
                row.get("attribute"),
                row.get("value_key"),
                _time(row["said_at"]),
                _time(row["recorded_at"]),
            )
            for row in retractions
        ],
        [
            Promoted(
                row["session_id"],
                row["through_version"],
                row["extractor"],
                row["extractor_order"],
                _time(row["recorded_at"]),
            )
            for row in promotions
        ],
    )


def _learned(row: Row) -> Learned:
    valid_to = _time(row["valid_to"])
    return Learned(
        fact_id=row["fact_id"],
        version=row["version"],
        attribute=row["attribute"],
        value_key=row["value_key"],
        cardinality=row["cardinality"],
        author_role=row["author_role"],
        confidence=row["confidence"],
        said_at=_time(row["said_at"]),
        session_id=row["session_id"],
        said_version=row["said_version"],
        valid_from=_time(row["valid_from"]),
        valid_to=None if valid_to == _NEVER else valid_to,
        extractor=row["extractor"],
        extractor_order=row["extractor_order"],
        recorded_at=_time(row["recorded_at"]),
    )


def _fact(entity: Entity, held: Held, written: Mapping[int, Row]) -> Fact:
    first = held.said[0]
    row = written[first.version]
    evidence = [
        Evidence.model_validate(each)
        for said in held.said
        for each in decode(written[said.version]["evidence"].encode())
    ]
    return Fact(
        entity=entity,
        fact_id=first.fact_id,
        kind=row["kind"],
        attribute=first.attribute,
        value=decode(row["value"].encode()),
        cardinality=first.cardinality,
        quote=row["quote"],
        author_role=first.author_role,
        confidence=max(each.confidence for each in held.said),
        valid_from=held.valid_from,
        valid_to=held.valid_to,
        ended_by=held.ended_by,
        retracted_at=held.retracted_at,
        evidence=tuple(evidence),
        fact_ids=tuple(each.fact_id for each in held.said),
        extractor=f"{row['extractor']} {row['extractor_version']}",
        version=Version(first.version),
        recorded_at=min(each.recorded_at for each in held.said),
        confirmed_at=max(each.recorded_at for each in held.said),
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
