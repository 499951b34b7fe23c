"""The plain methods that recall is measured beside, and what counts as an answer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from evals.searching import (
    Bm25,
    at_random,
    by_score,
    contains,
    cosine,
    fused,
    latest,
    sentences,
    within,
)

TEXTS = [
    "The blue bicycle stands in the cellar.",
    "Dr. Okafor looks after my teeth.",
    "On Mondays I swim, and on Mondays I rest.",
]


def test_a_sentence_ends_at_a_mark_and_not_after_a_title() -> None:
    text = "I saw Dr. Okafor. She said: stop! Then\nI left."
    assert sentences(text) == ["I saw Dr. Okafor.", "She said: stop!", "Then", "I left."]


def test_bm25_finds_rare_words_and_knows_endings() -> None:
    find = by_score(Bm25())
    assert find("where is my bicycle", TEXTS)[0] == 0
    assert find("who looked after a tooth or teeth", TEXTS)[0] == 1
    assert find("swimming on a Monday", TEXTS)[0] == 2


def test_bm25_gives_the_figure_of_its_formula() -> None:
    # Two texts of one word each; "tea" stands in one: ln(1 + 1.5/1.5) = ln 2, and its weight is
    # 1 * 2.2 / (1 + 1.2 * 1) = 1.
    assert Bm25()("tea", ["tea", "rum"]) == pytest.approx([0.693147, 0.0], abs=1e-6)


def test_fusion_weighs_two_scores_by_their_range() -> None:
    def one(_query: str, _texts: Sequence[str]) -> list[float]:
        return [0.0, 5.0, 10.0]

    def other(_query: str, _texts: Sequence[str]) -> list[float]:
        return [0.9, 0.7, 0.5]

    # Scaled: 0, 0.5, 1 and 1, 0.5, 0; a quarter of the second.
    assert fused(one, other, 0.25)("q", TEXTS) == pytest.approx([0.25, 0.5, 0.75])


def test_likeness_is_the_cosine_and_texts_are_embedded_once() -> None:
    asked: list[int] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.append(len(texts))
        return [[3.0, 4.0] if "a" in text else [0.0, 2.0] for text in texts]

    near = cosine(embed)
    texts = ["a", "b"]
    assert near("a", texts) == pytest.approx([1.0, 0.8])
    near("b", texts)
    assert asked == [2, 1, 1]


@pytest.mark.parametrize(
    ("context", "answers"),
    [
        ("We founded Blue Harbour in 2011.", ["blue harbour"]),
        ("He bought a long-term bond.", ["Long term"]),
        ("I get up at 5:30 AM, always.", ["05:30 AM"]),
        ("Lights out by 11 P.M. here.", ["11:00 PM"]),
        ("There were three of them.", ["3"]),
        ("Pack the glue sticks.", ["Glue Stick"]),
        ("Discipline first, then grace and luck.", ["Grace, Luck"]),
        ("It was red.", ["green", "red"]),
    ],
)
def test_an_answer_is_there_however_it_is_written(context: str, answers: list[str]) -> None:
    assert contains(context, answers)


@pytest.mark.parametrize(
    ("context", "answers"),
    [
        ("The predecessor left.", ["red"]),
        ("Grace alone.", ["Grace, Luck"]),
        ("At 15:30 AM sharp.", ["5:30 AM"]),
        ("", ["a"]),
    ],
)
def test_part_of_a_word_or_of_an_answer_is_none(context: str, answers: list[str]) -> None:
    assert not contains(context, answers)


def test_a_context_keeps_its_budget_and_takes_what_still_fits() -> None:
    assert within([0, 1, 2], ["aa", "bbbb", "c"], [5, 9, 5], 11) == "aa\nc"


def test_yardsticks_are_the_same_every_time() -> None:
    assert at_random("q", TEXTS) == at_random("q", TEXTS)
    assert latest("q", TEXTS) == [2, 1, 0]
