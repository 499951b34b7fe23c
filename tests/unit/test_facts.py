"""Which facts hold, by the rules, on what was said in an order that is worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from agentjournal.memory.facts import Held, Learned, Said, current_facts, facts_at, facts_of
from tests.unit.facts_said import also, day, promoted, retracted, said

Shown = tuple[str, datetime, datetime | None, str | None]


def shown(facts: list[Held]) -> list[Shown]:
    return [(f.said[0].fact_id, f.valid_from, f.valid_to, f.ended_by) for f in facts]


def ids(facts: list[Held]) -> list[str]:
    return [fact.said[0].fact_id for fact in facts]


def test_a_newer_value_of_a_single_valued_slot_closes_the_older_one() -> None:
    found = facts_of(Said([said("city", "Rome", 1), said("city", "Oslo", 5)]))
    assert shown(found) == [
        ("city=Rome on 1", day(1), day(5), "superseded"),
        ("city=Oslo on 5", day(5), None, None),
    ]


def test_an_older_statement_that_arrives_late_enters_closed() -> None:
    late = said("city", "Rome", 1, recorded_at=day(30), version=9)
    found = facts_of(Said([said("city", "Oslo", 5), late]))
    assert shown(found) == [
        ("city=Rome on 1", day(1), day(5), "superseded"),
        ("city=Oslo on 5", day(5), None, None),
    ]


def test_several_values_stand_beside_each_other() -> None:
    found = facts_of(Said([also("likes", "tea", 1), also("likes", "rice", 5)]))
    assert shown(found) == [
        ("likes=tea on 1", day(1), None, None),
        ("likes=rice on 5", day(5), None, None),
    ]


@pytest.mark.parametrize("words", [said, also])
def test_the_same_value_again_is_evidence(words: Callable[..., Learned]) -> None:
    [found] = facts_of(Said([words("likes", "Green  Tea", 1), words("likes", "green tea", 5)]))
    assert [each.session_id for each in found.said] == ["s-1", "s-5"]
    assert (found.valid_from, found.valid_to) == (day(1), None)


def test_a_value_that_comes_back_is_a_fact_of_its_own() -> None:
    facts = [said("city", "Rome", 1), said("city", "Oslo", 5), said("city", "Rome", 9)]
    assert shown(facts_of(Said(facts))) == [
        ("city=Rome on 1", day(1), day(5), "superseded"),
        ("city=Oslo on 5", day(5), day(9), "superseded"),
        ("city=Rome on 9", day(9), None, None),
    ]


def test_what_ranks_lower_never_ends_what_ranks_higher() -> None:
    facts = [
        said("seat", "aisle", 1, author_role="tool"),
        said("seat", "window", 3),
        said("seat", "middle", 5, author_role="tool"),
        said("seat", "front", 7, author_role="assistant"),
    ]
    assert shown(facts_of(Said(facts))) == [
        ("seat=aisle on 1", day(1), day(3), "superseded"),
        ("seat=window on 3", day(3), None, None),
        ("seat=middle on 5", day(5), day(5), "outranked"),
        ("seat=front on 7", day(7), day(7), "outranked"),
    ]


def test_what_ranks_lower_counts_once_the_higher_has_ended() -> None:
    facts = [
        said("hotel", "Ritz", 1, valid_to=day(4)),
        said("hotel", "Grand", 6, author_role="tool"),
    ]
    assert shown(facts_of(Said(facts))) == [
        ("hotel=Ritz on 1", day(1), day(4), "said"),
        ("hotel=Grand on 6", day(6), None, None),
    ]


def test_a_date_that_is_said_is_when_it_begins() -> None:
    facts = [said("city", "Rome", 1), said("city", "Oslo", 5, valid_from=day(20))]
    assert ids(facts_at(Said(facts), day(19))) == ["city=Rome on 1"]
    assert ids(facts_at(Said(facts), day(20))) == ["city=Oslo on 5"]
    earlier = [said("city", "Rome", 3), said("city", "Oslo", 5, valid_from=day(1))]
    assert shown(facts_of(Said(earlier))) == [
        ("city=Rome on 3", day(3), day(3), "superseded"),
        ("city=Oslo on 5", day(1), None, None),
    ]


def test_a_retraction_hides_what_was_said_and_brings_nothing_back() -> None:
    facts = [said("city", "Rome", 1), said("city", "Oslo", 5)]
    found = Said(facts, [retracted("city=Oslo on 5", 8)])
    assert shown(facts_of(found)) == [
        ("city=Rome on 1", day(1), day(5), "superseded"),
        ("city=Oslo on 5", day(5), day(8), "retracted"),
    ]
    assert facts_at(found, day(9)) == []
    assert facts_at(found, day(6)) == []
    assert ids(facts_at(found, day(2))) == ["city=Rome on 1"]
    assert ids(facts_at(found.known(day(7)), day(6))) == ["city=Oslo on 5"]


def test_all_that_was_said_of_a_retracted_value_until_then_is_taken_back() -> None:
    late = also("likes", "TEA", 2, recorded_at=day(30))
    facts = [also("likes", "tea", 5), late, also("likes", "rice", 4)]
    found = Said(facts, [retracted("likes=tea on 5", 8)])
    assert ids(facts_at(found, day(40))) == ["likes=rice on 4"]
    again = Said([*facts, also("likes", "tea", 9)], found.retracted)
    assert ids(facts_at(again, day(40))) == ["likes=rice on 4", "likes=tea on 9"]


def test_a_slot_can_be_taken_back_before_anything_is_known_of_it() -> None:
    whole = [retracted("none", 8, attribute="likes")]
    facts = [also("likes", "tea", 5, recorded_at=day(30)), also("likes", "rice", 9)]
    assert ids(facts_at(Said(facts, whole), day(40))) == ["likes=rice on 9"]
    one = [retracted("none", 8, attribute="likes", value_key=facts[0].value_key)]
    assert ids(facts_at(Said([also("likes", "fish", 2), *facts], one), day(40))) == [
        "likes=fish on 2",
        "likes=rice on 9",
    ]


def test_of_facts_with_one_id_the_first_counts() -> None:
    facts = [said("city", "Rome", 1, fact_id="f", version=4), said("city", "Oslo", 5, fact_id="f")]
    [found] = facts_of(Said(facts))
    assert found.valid_from == day(5)


def test_a_newer_extractor_replaces_what_the_older_one_learned_of_a_session() -> None:
    old = [said("city", "Romme", 1), said("size", "M", 1, said_version=8)]
    new = said("city", "Rome", 1, extractor_version="1.10", version=5)
    same = said("size", "M", 1, extractor_version="1.10", version=6)
    done = [promoted("s-1", "1.9", through=2), promoted("s-1", "1.10", through=4)]
    assert ids(facts_of(Said([*old, new], promoted=done))) == ["city=Rome on 1", "size=M on 1"]
    done = [promoted("s-1", "1.10")]
    assert ids(facts_of(Said([*old, new], promoted=done))) == ["city=Rome on 1"]
    assert ids(facts_of(Said([*old, new, same], promoted=done))) == [
        "city=Rome on 1",
        "size=M on 1",
    ]
    before = Said(old, promoted=done).known(day(40))  # the promotion is of day 50
    assert ids(facts_of(before)) == ["city=Romme on 1", "size=M on 1"]


def test_now_is_never_before_what_was_recorded() -> None:
    facts = [said("city", "Rome", 1), said("city", "Oslo", 5)]
    assert ids(current_facts(Said(facts), day(4))) == ["city=Oslo on 5"]
    assert ids(facts_at(Said(facts), day(4))) == ["city=Rome on 1"]
