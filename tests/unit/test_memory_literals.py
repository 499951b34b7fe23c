"""What a pattern needs is looked for first: no match is lost by it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.memory.literals import needs_of
from agentjournal.memory.rule import Pattern
from agentjournal.memory.rules import default_rules

PATTERNS = [pattern for rule in default_rules().rules for pattern in rule.patterns]
TEXTS = [
    text
    for rule in default_rules().rules
    for text in (*(case.text for case in rule.cases), *rule.counter_examples)
]


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"\b(?:I|we)(?: really)? (?:love|adore) (?P<value>\w+)", {"love", "adore"}),
        (r"My (?:new )?number", {" number", "number"}),
        (r"(?:optional)?(?:often)*", None),
        (r"short|no", None),
        (r"(?!never)always", {"always"}),
        (r"(?<=at )home", {"home"}),
        (r"(?:very ){2}big", {"very "}),
        (r"caf\xe9s", {"caf"}),
        (r"first\nlater", {"first", "later"}),
    ],
)
def test_what_a_pattern_needs_is_what_all_its_alternatives_have(
    pattern: str, literals: set[str] | None
) -> None:
    found = needs_of(pattern).literals
    assert found is None if literals is None else found is not None and found <= literals


@pytest.mark.parametrize(
    ("pattern", "has_digit"),
    [
        (r"number \d+", True),
        (r"(?=.*[0-9])\w+", True),
        (r"(?:no\. )?(\d{2}|[3-5]x)", True),
        (r"size 4[01]", True),
        (r"[0-z]", False),
        (r"\d*|\d", False),
        (r"(?!\d)\w", False),
        (r"(?<!\d)\w", False),
        (r"[\d.]+", False),
        (r"[^\d]", False),
        (r"\d|one", False),
        (r"\D\w", False),
    ],
)
def test_a_digit_is_needed_where_every_way_to_match_has_one(pattern: str, has_digit: bool) -> None:
    assert needs_of(pattern).digit == has_digit


@given(st.sampled_from(TEXTS), st.sampled_from(PATTERNS))
def test_a_pattern_that_matches_has_what_it_needs(text: str, pattern: Pattern) -> None:
    if re.search(pattern.text, text, re.IGNORECASE):
        literals, digit = pattern.needs()
        assert literals is None or any(each in text.casefold() for each in literals)
        assert not digit or re.search(r"\d", text)
