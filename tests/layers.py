"""What is known of users: facts, written as whoever learns them writes them."""

from __future__ import annotations

from typing import Any

from agentjournal import FactLearned, Log, Memory
from agentjournal.handle import Writer
from agentjournal.ids import stream_id
from tests.servers import inside


def about(log: Log, user: str) -> Memory:
    """Return a handle that what is learned of a user is written through."""
    stream = stream_id("user", log.settings.tenant, user)
    return Memory(stream, inside(log), Writer("/t/promoter", None, None))


def fact(fact_id: str, attribute: str, value: Any) -> FactLearned:
    """Return a fact that a user told."""
    return FactLearned.model_validate(
        {
            "fact_id": fact_id,
            "kind": "preference",
            "attribute": attribute,
            "value": value,
            "cardinality": "single",
            "quote": "as said",
            "evidence": [],
            "author_role": "user",
            "confidence": 1,
            "valid_from": "2026-01-01T00:00:00Z",
            "extractor": {"name": "rules", "version": "1"},
        }
    )
