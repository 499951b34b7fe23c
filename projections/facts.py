"""facts: what was learned of users, accounts and projects, and what was made of sessions.

Rows say what was said, when and where, each by itself, so it does not matter in which order
sessions are promoted. Which facts hold is computed from all of them by the views, and by
`agentjournal.memory.facts`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from agentjournal.codec import encode
from agentjournal.envelope import Recorded
from agentjournal.events.fields import is_id, is_time
from agentjournal.memory.fact_events import value_key, version_order
from projections.columns import NEVER, Apply, folding, parsed_stream, present, session_row
from projections.facts_tables import (
    FACT_RETRACTIONS,
    FACTS,
    PROMOTIONS,
    SESSION_ENTITIES,
    SESSION_MARKS,
)
from projections.plain_text import storable
from projections.projection import Projection, read_sql
from projections.rows import Changes, Row


def _entity_row(r: Recorded, /, **columns: Any) -> Row:
    kind, tenant, name = parsed_stream(r.stream)
    entity = {"tenant": tenant, "entity_kind": kind, "entity_id": name}
    return {**entity, "version": r.version, **columns}


def _moment(text: str) -> str:
    """Return a time as every reader reads it: in UTC, to the microsecond."""
    return datetime.fromisoformat(text).astimezone(UTC).isoformat()


def _said_at(data: Mapping[str, Any], otherwise: str) -> str:
    said_at = data.get("said_at")
    return _moment(said_at if isinstance(said_at, str) and is_time(said_at) else otherwise)


def _key(*parts: str) -> bytes:
    """Return a digest of ids that together may be longer than an index holds."""
    return hashlib.sha256("\0".join(parts).encode()).digest()


def _learned(r: Recorded, data: Any, changes: Changes) -> None:
    source: Mapping[str, Any] = data["evidence"][0] if data["evidence"] else {}
    name, version = data["extractor"]["name"], data["extractor"]["version"]
    row = _entity_row(
        r,
        fact_key=_key(data["fact_id"]),
        extractor_key=_key(name, version),
        attribute_key=_key(data["attribute"]),
        fact_id=data["fact_id"],
        kind=data["kind"],
        attribute=data["attribute"],
        slot=_slot(data),
        value=encode(data["value"]).decode(),
        value_key=value_key(data["value"]),
        cardinality=data["cardinality"],
        quote=storable(data["quote"]),
        author_role=data["author_role"],
        confidence=float(data["confidence"]),
        said_at=_said_at(data, data["valid_from"] if source else r.recorded_at),
        session_id=source.get("session_id", ""),
        said_version=source.get("version", r.version),
        valid_from=_moment(data["valid_from"]),
        valid_to=_moment(data.get("valid_to") or NEVER),
        evidence=encode([_evidence(each) for each in data["evidence"]]).decode(),
        extractor=name,
        extractor_version=version,
        extractor_order=version_order(version),
        recorded_at=r.recorded_at,
    )
    changes.add("facts", row)


def _slot(data: Mapping[str, Any]) -> bytes:
    """Return the key of what supersedes each other, or of one of the values beside each other."""
    own = "" if data["cardinality"] == "single" else value_key(data["value"]).hex()
    return _key(data["cardinality"], data["attribute"], own)


def _evidence(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: said[name] for name in ("session_id", "event_id", "version")}


def _retracted(r: Recorded, data: Any, changes: Changes) -> None:
    attribute, value = data.get("attribute"), data.get("value")
    is_named = isinstance(attribute, str) and is_id(attribute)
    row = _entity_row(
        r,
        fact_id=data["fact_id"],
        fact_key=_key(data["fact_id"]),
        attribute=attribute if is_named else None,
        attribute_key=_key(attribute) if is_named else None,
        value_key=None if value is None or not is_named else value_key(value),
        said_at=_said_at(data, r.recorded_at),
        reason=storable(data["reason"]),
        said_by=data["by"],
        recorded_at=r.recorded_at,
    )
    changes.add("fact_retractions", row)


def _promoted(r: Recorded, data: Any, changes: Changes) -> None:
    refused = data.get("refused") or []
    row = session_row(
        r,
        through_version=data["through_version"],
        extractor=data["extractor"]["name"],
        extractor_version=data["extractor"]["version"],
        extractor_order=version_order(data["extractor"]["version"]),
        learned=data["learned"],
        confirmed=data["confirmed"],
        superseded=data["superseded"],
        refused=encode([{"reason": e["reason"], "count": e["count"]} for e in refused]).decode(),
        summary=present(data.get("summary")),
        recorded_at=r.recorded_at,
    )
    changes.add("promotions", row)


def _about(r: Recorded, data: Any, changes: Changes) -> None:
    user = data.get("user")
    if user is not None:
        named = {"entity_kind": "user", "entity_id": user, "is_user": True}
        changes.add("session_entities", session_row(r, **named))
    for each in data.get("entities") or ():
        named = {"entity_kind": each["kind"], "entity_id": each["id"], "is_user": False}
        changes.add("session_entities", session_row(r, **named))


def _updated(r: Recorded, data: Any, changes: Changes) -> None:
    if data.get("entities") is not None:
        changes.add("session_marks", _mark(r, "replaced_version"))
        _about(r, {"entities": data["entities"]}, changes)


def _deleted(r: Recorded, _: Any, changes: Changes) -> None:
    changes.add("session_marks", _mark(r, "deleted_version"))


def _mark(r: Recorded, column: str) -> Row:
    _, tenant, session_id = parsed_stream(r.stream)
    return {"tenant": tenant, "session_id": session_id, column: r.version}


_APPLY: Mapping[str, Apply] = {
    "fact.learned": _learned,
    "fact.retracted": _retracted,
    "promotion.completed": _promoted,
    "session.started": _about,
    "session.updated": _updated,
    "session.deleted": _deleted,
}

FACTS_PROJECTION = Projection(
    name="facts",
    tables=(FACTS, FACT_RETRACTIONS, PROMOTIONS, SESSION_ENTITIES, SESSION_MARKS),
    fold=folding(_APPLY),
    kinds=frozenset({"session", "user", "account", "project"}),
    types=dict.fromkeys(_APPLY, 1),
    sql=read_sql("facts.sql"),
    every_event=False,
)
