"""What comes of a session that a model's server on this machine reads, for tests of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentjournal.events import Entity, Event
from agentjournal.memory.candidates import Extraction
from agentjournal.memory.extractors import RuleExtracting
from agentjournal.memory.model_extracting import ModelExtracting
from agentjournal.memory.statements import statements_of
from tests.model_server import Answering, Reply, fact, model_server
from tests.unit.said_events import USER, session, user

PAINTS = "My weekends go into painting watercolours."  # no rule knows it
HOBBY = fact(1, "hobby", "painting watercolours", PAINTS)
ALLERGIC = "I'm allergic to peanuts."


async def extracted(
    events: Sequence[Event],
    *answers: Reply | Answering,
    about: Sequence[Entity] = (USER,),
    **more: Any,
) -> tuple[Extraction, Extraction, int]:
    """Return what comes of a session with a model, and without, and how often that was asked."""
    statements = statements_of(session(*events))
    async with model_server(*answers) as server:
        extracting = ModelExtracting(server.settings(**more))
        found = await extracting.extract(statements, about)
        count = len(server.asked)
    return found, await RuleExtracting().extract(statements, about), count


def facts(found: Extraction) -> list[tuple[str, Any]]:
    return [(each.attribute, each.value) for each in found.candidates]


def reasons(found: Extraction, without: Extraction) -> list[str]:
    """Return why the model's proposals were refused."""
    return [each.reason for each in found.refused[len(without.refused) :]]


def long_session(count: int) -> list[Event]:
    """Return messages of a user, each of them as long as one question may show of one."""
    return [user(f"{PAINTS}\n```\n{number} {'la ' * 2_500}\n```") for number in range(count)]
