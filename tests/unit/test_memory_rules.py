"""Every rule of extraction has examples: each yields exactly its facts, no counter-example any."""

from __future__ import annotations

import shutil
from collections import defaultdict
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from agentjournal.errors import NotConfigured
from agentjournal.events import Entity
from agentjournal.ids import Version
from agentjournal.memory.candidates import Extraction, Role, Statement
from agentjournal.memory.extracting import extract
from agentjournal.memory.rule import Case, Rule
from agentjournal.memory.rules import Rules, default_rules, read_rules
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


def said(text: str, asked: str | None = None, rules: Rules | None = None) -> Extraction:
    """Return what is made of a text of the user, after a question of the assistant."""
    turns: list[tuple[Role, str | None]] = [("assistant", asked), ("user", text)]
    statements = [
        Statement("s", f"e{number}", Version(number), SAID_AT, role, "message", each)
        for number, (role, each) in enumerate(turns, 1)
        if each is not None
    ]
    return extract(statements, ENTITIES, default_slots(), rules or default_rules())


def facts_of(extraction: Extraction) -> dict[str, tuple[Any, ...]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for each in extraction.candidates:
        values = found["~" * each.retracts + each.attribute]
        if not each.retracts or each.value not in values:  # of several entities it is one
            values.append(each.value)
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


def of_ones_own(folder: Path, rule: str) -> Rules:
    """Return the rules of a folder with the words of English, and one rule."""
    english = files("agentjournal.memory") / "rules" / "en" / "words.toml"
    shutil.copy(str(english), folder)
    (folder / "10_mine.toml").write_text(f"[[rule]]\n{rule}\n", encoding="utf-8")
    return read_rules(folder)


def test_rules_of_ones_own_take_the_place_of_those_that_there_are(tmp_path: Path) -> None:
    rule = """name = "drink"
attribute = "drink"
patterns = ['\\bi drink (?P<value>{{thing}}){{end}}']"""
    text = "I drink tea. I live in Rome."
    assert facts_of(said(text, None, of_ones_own(tmp_path, rule))) == {"drink": ("tea",)}
    assert facts_of(said(text)) == {"home_city": ("Rome",)}


@pytest.mark.parametrize(
    ("rule", "place"),
    [
        ('name = "a"\nattribute = "b"', r"10_mine.toml: rule 1 \(a\): patterns is missing"),
        ('name = "a"\ncolour = 1', r"rule 1 \(a\): colour is not a field"),
        (
            'name = "a"\nattribute = "b"\npatterns = ["("]',
            r"rule 1 \(a\): patterns: .*unterminated",
        ),
        (
            'name = "a"\nattribute = "b"\npatterns = ["{{no}}"]',
            r"rule 1 \(a\): patterns: .*there is no fragment 'no'",
        ),
        (
            'name = "a"\nattribute = "b"\npatterns = ["c"]\nvalue = true',
            r"rule 1 \(a\): value is no text, and no list of texts",
        ),
        (
            'name = "a"\nattribute = "b"\npatterns = ["c"]\nvalue = ["d", 1]',
            r"rule 1 \(a\): value is no text",
        ),
        ("name = ", "10_mine.toml cannot be read"),
    ],
)
def test_a_rule_that_is_none_is_refused_by_its_place(tmp_path: Path, rule: str, place: str) -> None:
    with pytest.raises(NotConfigured, match=place):
        of_ones_own(tmp_path, rule)


def test_a_fragment_that_two_files_have_is_refused(tmp_path: Path) -> None:
    (tmp_path / "01_mine.toml").write_text('[fragments]\nend = "x"\n', encoding="utf-8")
    with pytest.raises(NotConfigured, match=r"01_mine.toml: there is a fragment 'end' in another"):
        of_ones_own(
            tmp_path,
            """name = "drink"
attribute = "drink"
patterns = ['drink']""",
        )
