"""What holds after sessions in which a user says something, as tests of memory ask for it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from agentjournal.events import Entity
from agentjournal.ids import Version
from agentjournal.memory.candidates import Candidate, Statement
from agentjournal.memory.extracting import extract
from agentjournal.memory.rules import default_rules
from agentjournal.memory.slots import default_slots
from evals.holding import held

Facts: TypeAlias = list[tuple[str, Any]]

_ENTITIES = [
    Entity(kind="user", id="u"),
    Entity(kind="account", id="a"),
    Entity(kind="project", id="p"),
]
_BEGIN = datetime(2026, 1, 14, 10, tzinfo=UTC)
_ASSISTANT = "A: "


def holds(*sessions: str) -> Facts:
    """Return what holds after sessions, a week apart, in the order of attributes and values.

    In each a line is a turn of the user, or one of the assistant where it begins with "A: ".
    """
    said = [
        candidate
        for number, session in enumerate(sessions, 1)
        for candidate in _learned(number, session.split("\n"))
    ]
    return sorted(
        (fact.attribute, fact.value) for fact in held(said) if fact.active and not fact.hidden
    )


def _learned(session: int, turns: list[str]) -> list[Candidate]:
    at = (_BEGIN + timedelta(weeks=session)).strftime("%Y-%m-%dT%H:%M:%SZ")
    statements = [
        Statement(
            f"s{session}",
            f"e{session}-{number}",
            Version(number),
            at,
            "assistant" if turn.startswith(_ASSISTANT) else "user",
            "message",
            turn.removeprefix(_ASSISTANT),
        )
        for number, turn in enumerate(turns, 1)
    ]
    return extract(statements, _ENTITIES, default_slots(), default_rules()).candidates
