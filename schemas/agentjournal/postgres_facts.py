"""Facts in the read models."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agentjournal.codec import decode
from agentjournal.errors import StreamParked
from agentjournal.events import Entity, Evidence
from agentjournal.ids import StreamId, Version, parse_stream
from agentjournal.memory.known import Fact, Known
from agentjournal.postgres_views import PostgresViews
from agentjournal.sql_statements import read_statements

_SQL = read_statements("agentjournal", "facts.sql")


class PostgresFacts:
    """Reads facts with the exact values that were learned."""

    def __init__(self, views: PostgresViews) -> None:
        self._views = views

    async def known(self, entity: StreamId, known_at: datetime | None) -> Known:
        """Return all facts as they were known at a moment, None: now. As the port."""
        kind, tenant, name = parse_stream(entity)
        [state] = await self._views.select(_SQL["state"], stream=entity)
        if state["projection"] is not None:
            raise StreamParked(entity, state["projection"], state["parked_version"])
        rows = await self._views.select(
            _SQL["known"], stream=entity, tenant=tenant, kind=kind, name=name, known_at=known_at
        )
        about = Entity.model_validate({"kind": kind, "id": name})
        facts = [_fact(about, row) for row in rows]
        facts.sort(key=lambda fact: (fact.attribute, fact.valid_from, fact.version))
        return Known(Version(state["version"]), facts)


def _fact(entity: Entity, row: Mapping[str, Any]) -> Fact:
    columns = {name: value for name, value in row.items() if name != "raw_data"}
    columns["evidence"] = tuple(Evidence.model_validate(each) for each in row["evidence"])
    columns["fact_ids"] = tuple(row["fact_ids"])
    return Fact(entity=entity, value=decode(row["raw_data"])["value"], **columns)
