"""Patterns with fragments: what they are in full, and what a text must have for one to match."""

from __future__ import annotations

import re

import pytest

from agentjournal.errors import NotConfigured
from agentjournal.memory.literals import Needs, needs_of
from agentjournal.memory.rule import Pattern
from agentjournal.memory.templates import Templates

FRAGMENTS = {
    "owner": r"\b(?:my|our)",
    "pet": r"(?:hamster|parrot)",
    "number": r"\d+",
    "own_pet": r"{{owner}} {{pet}}",
    "itself": r"a{{itself}}b",
}


@pytest.fixture
def templates() -> Templates:
    return Templates(FRAGMENTS, "words.toml")


def test_fragments_of_fragments_are_filled_in(templates: Templates) -> None:
    pattern = templates.filled(r"{{own_pet}} is {{number}}")

    assert re.fullmatch(pattern, "our parrot is 12")
    assert not re.fullmatch(pattern, "a parrot is 12")
    assert templates.fragment("own_pet") == r"(?:\b(?:my|our)) (?:(?:hamster|parrot))"
    assert templates.fragment("unknown") is None


def test_a_quantifier_holds_for_the_whole_fragment(templates: Templates) -> None:
    assert re.fullmatch(templates.filled("(?:{{pet}},?)+"), "parrot,hamster,parrot")
    assert re.fullmatch(templates.filled("no{{pet}}?"), "no")


@pytest.mark.parametrize(
    "text",
    [
        r"{{own_pet}} is {{number}}",
        r"{{pet}}?{{owner}}",
        r"(?:{{pet}}|goldfish)",
        r"(?:{{pet}}|\w+)",
        r"(?:{{number}}|{{number}}x)",
        r"(?={{number}}).*{{owner}}",
        r"(?!{{number}}){{owner}} (?:fish){0,2}",
    ],
)
def test_what_a_template_needs_is_what_the_full_pattern_needs(
    templates: Templates, text: str
) -> None:
    assert templates.needs(text) == needs_of(templates.filled(text))


def test_further_fragments_go_before_those_of_the_same_name(templates: Templates) -> None:
    assert templates.needs("{{pet}}").literals == frozenset({"hamster", "parrot"})
    more = templates.also({"pet": "axolotl", "colour": "pink {{pet}}"})

    assert more.filled("{{colour}}") == "(?:pink (?:axolotl))"
    assert more.needs("{{pet}}").literals == frozenset({"axolotl"})
    assert templates.needs("{{pet}}").literals == frozenset({"hamster", "parrot"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{colour}}", "words.toml: there is no fragment 'colour'"),
        ("{{itself}}", "words.toml: a fragment is made of itself"),
    ],
)
def test_a_fragment_that_cannot_be_filled_is_named(
    templates: Templates, text: str, reason: str
) -> None:
    with pytest.raises(NotConfigured, match=reason):
        templates.filled(text)


def test_what_is_made_of_itself_needs_nothing_that_is_known(templates: Templates) -> None:
    assert templates.needs("{{itself}}") == Needs()


def test_a_pattern_is_compiled_when_it_is_looked_for_first(templates: Templates) -> None:
    pattern = Pattern("{{own_pet}}", templates)
    broken = Pattern("(", templates)

    assert pattern.needs().literals == frozenset({"hamster", "parrot"})
    assert [found[0] for found in pattern.finditer("MY hamster and our parrot")] == [
        "MY hamster",
        "our parrot",
    ]
    with pytest.raises(re.error):
        broken.search("anything")
