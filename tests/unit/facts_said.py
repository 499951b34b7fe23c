"""What is said of an entity, for tests of which facts hold."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from agentjournal.memory.fact_events import value_key, version_order
from agentjournal.memory.facts import Learned, Promoted, Retracted

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    return BEGAN + timedelta(days=number)


def said(attribute: str, value: Any, on: float, **more: Any) -> Learned:
    """Return a single value that a user said on a day, in a session of that day."""
    extractor_version = more.pop("extractor_version", "1")
    fact = Learned(
        fact_id=f"{attribute}={value} on {on}",
        version=1,
        attribute=attribute,
        value_key=value_key(value),
        cardinality="single",
        author_role="user",
        confidence=0.9,
        said_at=day(on),
        session_id=f"s-{on}",
        said_version=2,
        valid_from=day(on),
        valid_to=None,
        extractor="rules",
        extractor_order=version_order(extractor_version),
        recorded_at=day(on),
    )
    return replace(fact, **more)


def also(attribute: str, value: Any, on: float, **more: Any) -> Learned:
    """Return one of several values that a user said on a day."""
    return said(attribute, value, on, cardinality="multiple", **more)


def retracted(fact_id: str, on: float, **more: Any) -> Retracted:
    """Return a retraction of a fact."""
    return replace(Retracted(fact_id, None, None, day(on), day(on)), **more)


def promoted(session_id: str, version: str, *, through: int = 9, on: float = 50) -> Promoted:
    """Return that a version of the rules has read a session."""
    return Promoted(session_id, through, "rules", version_order(version), day(on))
