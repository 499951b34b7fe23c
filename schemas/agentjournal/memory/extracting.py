"""The extractor that needs no model: the same statements give the same facts.

Users are taken at their word, by rules. Tools are believed in what they did, by structure. What the
assistant says is only used to understand an answer; system prompts and documents teach nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentjournal.events import Entity, Extractor
from agentjournal.memory.candidates import Extraction, Statement
from agentjournal.memory.finding import MAX_BEFORE, Heard
from agentjournal.memory.frames import with_frames
from agentjournal.memory.rules import Rules
from agentjournal.memory.slots import Slots
from agentjournal.memory.speech import Listening
from agentjournal.memory.summarising import summary_of
from agentjournal.memory.tool_facts import tool_facts

_MAX_ASKED = 2_000  # characters at the end of what the assistant said
_QUESTIONS = 3
_END = re.compile(r"[?\n]|[.!](?![^\s.!?])")  # "Is it jo@example.org?" has one
EXTRACTOR = Extractor(name="rules", version="5")


def extract(
    statements: Sequence[Statement], entities: Sequence[Entity], slots: Slots, rules: Rules
) -> Extraction:
    """Return what is worth keeping of a session, what was refused and why, and a summary.

    A fact about a kind of entity is kept only where the session has one of it and no more: of two
    users nobody can say which one is meant.
    """
    about: dict[str, Entity] = {each.kind: each for each in entities if _is_alone(each, entities)}
    listening = Listening(about, slots, with_frames(rules, slots))
    heard = Heard()
    for statement in statements:
        if statement.source != "message":
            continue
        if statement.role == "user":
            listening.hear(statement, heard)
            heard = Heard()
        elif statement.role == "assistant":
            heard = Heard(_questions(statement.text), statement.text[-MAX_BEFORE:], statement)
    done = tool_facts(statements, about, slots, listening.candidates)
    candidates = sorted([*listening.candidates, *done], key=lambda each: each.statement.version)
    return Extraction(candidates, listening.refused, summary_of(statements))


def _is_alone(entity: Entity, entities: Sequence[Entity]) -> bool:
    return len({each.id for each in entities if each.kind == entity.kind}) == 1


def _questions(text: str) -> str:
    """Return the last questions of a text, without what was said before them."""
    late = text[-_MAX_ASKED:]
    asked: list[str] = []
    start = 0
    for end in _END.finditer(late):
        if end[0] == "?":
            asked.append(late[start : end.end()].strip())
        start = end.end()
    return "\n".join(asked[-_QUESTIONS:])
