"""The measures of long-term memory, on cases that are worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.intervals import Share, clustered, wilson
from evals.labelled import (
    BadLabels,
    Case,
    Distractor,
    Entity,
    Gold,
    Happened,
    LabelledSession,
    case_of,
    final_state,
)
from evals.matching import Learned, matched, same
from evals.measures import added, counts
from evals.normal import normal, token_f1

WHO = "user:u-1"


def said(number: int, text: str, kind: str = "message.added") -> Happened:
    return Happened(f"e{number}", f"2026-01-0{number}T10:00:00Z", kind, {"text": text})


def gold(attribute: str, value: Any, number: int, **fields: Any) -> Gold:
    given: dict[str, Any] = {
        "entity": WHO,
        "kind": "preference",
        "op": "add",
        "valid_from": f"2026-01-0{number}T10:00:00Z",
        "evidence": (f"e{number}",),
        "quote": str(value),
    }
    return Gold(attribute=attribute, value=value, **{**given, **fields})


def fact(attribute: str, value: Any, number: int, **fields: Any) -> Learned:
    given: dict[str, Any] = {
        "entity": WHO,
        "kind": "preference",
        "quote": str(value),
        "evidence": (f"e{number}",),
        "valid_from": f"2026-01-0{number}T10:00:00Z",
    }
    return Learned(attribute=attribute, value=value, **{**given, **fields})


def case(
    events: Sequence[Happened],
    facts: Sequence[Gold],
    noise: Sequence[str] = (),
    distractors: Sequence[Distractor] = (),
) -> Case:
    session = LabelledSession(
        "s-1",
        (Entity("user", "u-1"),),
        tuple(events),
        tuple(facts),
        frozenset(noise),
        tuple(distractors),
    )
    return Case("c", "home", "a", (session,), final_state(facts))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The  Window", "window"),
        ("9,000 euros", "9000 EUR"),
        ("€9000", {"amount": "9000", "currency": "EUR"}),
        ("30 April 2026", "2026-04-30"),
        ("April 30th, 2026", "2026-04-30"),
        ("two", 2),
        ("70.0 kilos", "70 kg"),
        ("ﬁsh", "fish"),
    ],
)
def test_one_value_in_two_spellings_is_one_value(one: Any, other: Any) -> None:
    assert normal(one) == normal(other)


@pytest.mark.parametrize(
    ("one", "other"), [("0451", "451"), ("5 kg", "5 lb"), ("tea", "green tea"), ("1.5", "15")]
)
def test_other_values_stay_others(one: Any, other: Any) -> None:
    assert normal(one) != normal(other)


def test_the_share_of_words_counts_each_word_once() -> None:
    # Three words against four, two in common: 2 * 2 / 7.
    assert token_f1("no new dependencies", "new dependencies need asking") == pytest.approx(4 / 7)
    assert token_f1("no no", "no") == pytest.approx(2 / 3)
    assert token_f1("a b", "c") == 0


def test_the_matching_is_the_largest_even_where_the_first_choice_blocks_another() -> None:
    rule = {"kind": "constraint"}
    golds = [
        gold("rule", "never deploy on Fridays please", 1, **rule),
        gold("rule", "never deploy on Fridays", 1, **rule),
    ]
    # The first label fits both facts, the second only the first fact.
    learned = [
        fact("rule", "never deploy on Fridays", 1),
        fact("rule", "please deploy on Fridays please", 1),
    ]
    assert same(golds[0], learned[1])
    assert not same(golds[1], fact("rule", "please deploy please", 1))
    assert len(matched(golds, learned)) == 2


def test_free_text_has_to_share_its_evidence() -> None:
    label = gold("free_text", "I restore old radios", 1, kind="text")
    assert same(label, fact("free_text", "restore old radios", 1))
    assert not same(label, fact("free_text", "restore old radios", 2))


def test_precision_counts_what_was_promoted_and_recall_what_was_labelled() -> None:
    events = [said(1, "tea jazz"), said(2, "red Leeds")]
    labels = [
        gold("likes", "tea", 1, cardinality="multiple"),
        gold("likes", "jazz", 1, cardinality="multiple"),
        gold("home_city", "Leeds", 2, kind="profile"),
        gold("nickname", "red", 2, optional=True),
    ]
    learned = [
        fact("likes", "tea", 1, cardinality="multiple"),
        fact("likes", "rain", 1, cardinality="multiple"),
        fact("nickname", "red", 2),
    ]
    found = counts(case(events, labels), learned)
    assert found["precision"] == Share(1, 2)  # the optional one counts neither way
    assert found["recall"] == Share(1, 3)
    assert found["recall profile"] == Share(0, 1)
    assert found["grounding"] == Share(2, 3)  # "rain" stands nowhere
    assert found["provenance"] == Share(1, 1)


def test_noise_is_a_fact_that_rests_on_noise_alone() -> None:
    events = [said(1, "tea"), said(2, "tea rum", "note.set")]
    learned = [
        fact("likes", "tea", 1, evidence=("e1", "e2")),
        fact("likes", "rum", 2),
    ]
    found = counts(case(events, [gold("likes", "tea", 1)], noise=["e2"]), learned)
    assert found["noise"] == Share(1, 2)
    assert found["scratchpad"] == Share(2, 2)  # citing it at all is counted


def test_a_trap_is_sprung_only_by_a_fact_from_its_own_event() -> None:
    events = [said(1, "I like tea"), said(2, "she likes coffee and tea")]
    traps = [Distractor("coffee", "e2", "somebody else"), Distractor("tea", "e2", "somebody else")]
    learned = [fact("likes", "tea", 1), fact("likes", "black coffee", 2)]
    found = counts(case(events, [gold("likes", "tea", 1)], distractors=traps), learned)
    assert found["false-memory resistance"] == Share(1, 2)


def test_a_change_is_correct_wrong_or_missed() -> None:
    events = [said(1, "Leeds"), said(2, "Ghent")]
    labels = [gold("home_city", "Leeds", 1), gold("home_city", "Ghent", 2, op="supersede")]
    closed = fact("home_city", "Leeds", 1, valid_to="2026-01-02T10:00:00Z", active=False)
    open_still = fact("home_city", "Leeds", 1)
    new = fact("home_city", "Ghent", 2)
    right = counts(case(events, labels), [closed, new])
    wrong = counts(case(events, labels), [open_still, new])
    missed = counts(case(events, labels), [open_still])
    assert right["update correct"] == Share(1, 1)
    assert right["stale-active"] == Share(0, 1)
    assert wrong["update wrong"] == Share(1, 1)
    assert wrong["stale-active"] == Share(1, 2)
    assert wrong["redundancy"] == Share(1, 2)
    assert missed["update missed"] == Share(1, 1)


def test_as_of_asks_with_the_first_value_the_middle_and_the_end() -> None:
    events = [said(1, "Leeds"), said(2, "Ghent")]
    labels = [gold("home_city", "Leeds", 1), gold("home_city", "Ghent", 2, op="supersede")]
    closed = fact("home_city", "Leeds", 1, valid_to="2026-01-02T10:00:00Z", active=False)
    never = fact("home_city", "Leeds", 1, valid_to="2026-01-01T10:00:00Z", active=False)
    new = fact("home_city", "Ghent", 2)
    assert counts(case(events, labels), [closed, new])["as-of"] == Share(3, 3)
    assert counts(case(events, labels), [never, new])["as-of"] == Share(2, 3)
    only_old = counts(case(events, labels), [fact("home_city", "Leeds", 1)])
    assert only_old["as-of"] == Share(0, 0)  # a value was not found: that is recall's matter
    assert only_old["as-of, all slots"] == Share(1, 3)


def test_what_is_still_true_and_closed_is_over_invalidated() -> None:
    events = [said(1, "tea jazz")]
    labels = [
        gold("likes", "tea", 1, cardinality="multiple"),
        gold("likes", "jazz", 1, cardinality="multiple"),
    ]
    learned = [
        fact("likes", "tea", 1, active=False, valid_to="2026-01-02T10:00:00Z"),
        fact("likes", "jazz", 1),
    ]
    assert counts(case(events, labels), learned)["over-invalidation"] == Share(1, 2)


def test_what_was_retracted_and_is_active_is_stale() -> None:
    events = [said(1, "tea"), said(2, "forget the tea")]
    labels = [gold("likes", "tea", 1), gold("likes", "tea", 2, op="retract")]
    assert counts(case(events, labels), [fact("likes", "tea", 1)])["stale-active"] == Share(1, 1)
    hidden = fact("likes", "tea", 1, active=False, hidden=True)
    kept = counts(case(events, labels), [hidden])
    assert kept["stale-active"] == Share(0, 0)
    assert kept["as-of"] == Share(3, 3)


def test_counts_of_cases_add_up() -> None:
    assert added([{"a": Share(1, 2)}, {"a": Share(0, 3), "b": Share(1, 1)}]) == {
        "a": Share(1, 5),
        "b": Share(1, 1),
    }


def test_wilson_gives_the_bounds_of_its_table() -> None:
    # 8 of 10 at 95 %: 0.4902 to 0.9433; none of 10: 0 to 0.2775.
    eight, none = wilson(Share(8, 10)), wilson(Share(0, 10))
    assert eight == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert none == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson(Share(0, 0)) is None


def test_whole_conversations_are_drawn_again() -> None:
    # Ten conversations that are all right or all wrong are ten observations, not a hundred.
    shares = [Share(10, 10)] * 5 + [Share(0, 10)] * 5
    apart, whole = wilson(Share(50, 100)), clustered(shares)
    assert apart is not None
    assert whole is not None
    assert whole.high - whole.low > 2 * (apart.high - apart.low)
    assert clustered(shares) == whole
    assert clustered([Share(3, 3)] * 4) == (1.0, 1.0)


@given(st.integers(0, 50), st.integers(1, 50))
def test_an_interval_holds_its_share(hits: int, more: int) -> None:
    share = Share(hits, hits + more)
    bounds = wilson(share)
    assert bounds is not None
    assert share.value is not None
    assert 0 <= bounds.low <= share.value <= bounds.high <= 1


def test_labels_that_point_nowhere_are_named() -> None:
    raw = (
        b'{"domain": "d", "author": "a", "final_state": [], "sessions": [{"session_id": "s",'
        b' "entities": [], "events": [], "facts": [], "noise": ["s:9"], "distractors": []}]}'
    )
    with pytest.raises(BadLabels, match="c: noise s:9: there is no such event"):
        case_of("c", raw)
