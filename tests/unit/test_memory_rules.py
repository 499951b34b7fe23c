"""Every rule of extraction has examples: each yields exactly its facts, no counter-example any."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from agentjournal.events import Entity
from agentjournal.ids import Version
from agentjournal.memory.candidates import Extraction, Role, Statement
from agentjournal.memory.extracting import extract
from agentjournal.memory.rule import Case, Rule
from agentjournal.memory.rules import default_rules
from agentjournal.memory.slots import default_slots

ENTITIES = [
    Entity(kind="user", id="u"),
    Entity(kind="account", id="a"),
    Entity(kind="project", id="p"),
]
SAID_AT = "2026-01-14T10:00:00Z"
RULES = default_rules().rules
CASES = [
    pytest.param(rule, case, id=f"{rule.name}-{number}")
    for rule in RULES
    for number, case in enumerate(rule.cases, 1)
]
COUNTER_EXAMPLES = [
    pytest.param(rule, text, id=f"{rule.name}-{number}")
    for rule in RULES
    for number, text in enumerate(rule.counter_examples, 1)
]


def said(text: str, asked: str | None = None) -> Extraction:
    """Return what is made of a text of the user, after a question of the assistant."""
    turns: list[tuple[Role, str | None]] = [("assistant", asked), ("user", text)]
    statements = [
        Statement("s", f"e{number}", Version(number), SAID_AT, role, "message", each)
        for number, (role, each) in enumerate(turns, 1)
        if each is not None
    ]
    return extract(statements, ENTITIES, default_slots(), default_rules())


def facts_of(extraction: Extraction) -> dict[str, tuple[Any, ...]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for each in extraction.candidates:
        found["~" * each.retracts + each.attribute].append(each.value)
    return {attribute: tuple(values) for attribute, values in found.items()}


@pytest.mark.parametrize(("rule", "case"), CASES)
def test_an_example_yields_exactly_its_facts(rule: Rule, case: Case) -> None:
    extraction = said(case.text, case.asked)

    assert facts_of(extraction) == case.facts, rule.name


@pytest.mark.parametrize(("rule", "text"), COUNTER_EXAMPLES)
def test_a_counter_example_yields_nothing_in_the_slot_of_its_rule(rule: Rule, text: str) -> None:
    found = facts_of(said(text))

    assert rule.attribute not in found, found


def test_every_rule_has_an_example() -> None:
    assert [rule.name for rule in RULES if not rule.cases] == []


def test_the_quote_of_every_example_is_verbatim() -> None:
    for rule in RULES:
        for case in rule.cases:
            for each in said(case.text, case.asked).candidates:
                assert each.quote in each.statement.text
