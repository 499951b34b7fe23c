"""Rules are found by the words that must be there: no match is lost by it."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentjournal.memory.frames import with_frames
from agentjournal.memory.hints import Vocabulary
from agentjournal.memory.rule import Rule, rule_of
from agentjournal.memory.rule_index import RuleIndex
from agentjournal.memory.rules import Rules, default_rules
from agentjournal.memory.slots import default_slots

WORDS = st.text("abzß4", min_size=1, max_size=5)


def rule(name: str, **given: Any) -> Rule:
    return rule_of("a test", {"name": name, "attribute": "likes", "patterns": ["x|y"], **given})


def meant(rules: Rules | RuleIndex, text: str, asked: str = "", before: str = "") -> list[str]:
    return [each.name for each, _ in rules.meant(text, asked, before)]


def test_rules_are_found_by_a_hint_and_those_without_always() -> None:
    index = RuleIndex(
        [
            rule("code", hints=["post code", "zip"]),
            rule("any"),
            rule("sign", hints=["@"]),
            rule("short", hints=["zi"]),
        ]
    )

    assert meant(index, "My ZIP is 8010") == ["code", "any", "short"]
    assert meant(index, "a@b.example") == ["any", "sign"]
    assert meant(index, "") == ["any"]


def test_only_patterns_whose_words_and_digits_are_there_are_tried() -> None:
    index = RuleIndex([rule("one", hints=["room"], patterns=["room \\d+", "chamber", "r.*m"])])

    def tried(text: str) -> list[str]:
        return [each.text for _, patterns in index.meant(text, "", "") for each in patterns]

    assert tried("the room") == ["r.*m"]
    assert tried("room 4") == ["room \\d+", "r.*m"]
    assert tried("the bedchamber has no room") == ["chamber", "r.*m"]
    assert tried("chamber 4") == []


def test_rules_that_answer_or_go_on_are_found_by_what_was_said_before() -> None:
    index = RuleIndex(
        [
            rule("answer", asked="which (?:city|town)"),
            rule("going on", about="travel"),
            rule("both", asked="which", hints=["berlin"]),
        ]
    )

    assert meant(index, "Berlin.", asked="Which town?") == ["answer", "both"]
    assert meant(index, "Berlin.", before="we travel") == ["going on"]
    assert meant(index, "Berlin.") == []


@given(st.lists(WORDS, max_size=6), st.lists(WORDS, max_size=6), st.text("abzß4\n", max_size=12))
def test_every_word_is_found_wherever_it_stands(
    first: list[str], later: list[str], text: str
) -> None:
    vocabulary = Vocabulary()
    for words in (first, later):
        numbers = {each: vocabulary.numbers_of([each]) for each in map(str.casefold, words)}
        looked_at = vocabulary.look(text)
        for word, number in numbers.items():
            assert (number <= looked_at.words) == (word in text.casefold())
        assert looked_at.has_digit == ("4" in text)


def test_no_pattern_that_matches_an_example_is_left_out() -> None:
    rules = with_frames(default_rules(), default_slots())
    missed: list[tuple[str, str]] = []
    for each in rules.rules:
        for case in each.cases:
            asked = case.asked or ""
            if each.about is not None or (each.asked and not each.asked.search(asked)):
                continue
            if each.needs is not None and not each.needs.search(case.text):
                continue
            found = {id(one): patterns for one, patterns in rules.meant(case.text, asked, "")}
            matching = [one for one in each.patterns if one.search(case.text)]
            if not set(matching) <= set(found.get(id(each), ())):
                missed.append((each.name, case.text))
    assert missed == []


def test_threads_find_the_same_while_words_are_new() -> None:
    texts = [case.text for each in default_rules().rules for case in each.cases][:200]
    alone = [meant(default_rules(), text) for text in texts]

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(partial(meant, RuleIndex(default_rules().rules)), texts))

    assert found == alone


def test_an_index_of_no_rules_finds_none() -> None:
    assert RuleIndex([]).meant("anything", "", "") == []


def test_hints_stand_in_every_sentence_that_their_rule_matches() -> None:
    lost = [
        (each.name, case.text)
        for each in default_rules().rules
        for case in each.cases
        if each.hints
        and any(one.search(case.text) for one in each.patterns)
        and not re.search("|".join(map(re.escape, each.hints)), case.text.casefold())
    ]
    assert lost == []


def test_words_are_found_beside_half_a_surrogate_pair() -> None:
    words = Vocabulary()
    assert words.look("\ud800 my room\udfff").words == frozenset()
    [room] = words.numbers_of(["room"])
    assert words.look("\ud800 my room\udfff").words == {room}
