"""What passages, terms and scores are: the pure part of recall."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.ids import StreamId, Version
from agentjournal.memory.fact_text import fact_text
from agentjournal.memory.passages import MAX_PASSAGE, passages_of
from agentjournal.memory.ranking import (
    Counted,
    Document,
    Scored,
    best,
    bm25,
    bm25_of,
    fused,
    with_the_best_beside,
)
from agentjournal.memory.recalling import checked, find_of_each, ranked
from agentjournal.memory.recalls import Asked, Event, Hit, Texts, holding
from agentjournal.memory.terms import query_terms, terms_of


def hit(text: str, **more: object) -> Hit:
    whole = {
        "stream": StreamId("session/acme/s"),
        "version": Version(1),
        "number": 0,
        "tier": "message",
        "role": "user",
        "ref": "m",
        "event_id": "e",
        "text": text,
        "said_at": datetime(2026, 1, 2, tzinfo=UTC),
        "lexical": 1.0,
    }
    return Hit(**(whole | more))  # type: ignore[arg-type]


def test_words_of_one_stem_are_one_term_and_common_words_are_none() -> None:
    assert terms_of("The cats were RUNNING") == ["cat", "run"]
    assert query_terms("what is it that I was") == []
    assert query_terms(" ".join(map(str, range(100)))) == [str(number) for number in range(64)]
    assert terms_of("\uff21lpha costs 4.50") == ["alpha", "cost", "4.50"]


@given(st.text(max_size=300))
def test_a_term_is_plain_whatever_is_written(text: str) -> None:
    for term in terms_of(text):
        assert term
        assert not set(term) & set("'\\&|!()<>:*% \t\n\0") - set(":")
    assert terms_of(text) == terms_of(text)


def test_a_message_comes_in_its_sentences() -> None:
    text = "I moved to Lisbon. Dr. Ada lives at no. 5! Is it far?\n- milk\n- 2.5 l of oil"
    assert passages_of(text) == [
        "I moved to Lisbon.",
        "Dr. Ada lives at no. 5!",
        "Is it far?",
        "- milk",
        "- 2.5 l of oil",
    ]
    assert passages_of(" ... \n !") == []
    assert len(passages_of("More of it.\n" * 500)) == 400


@given(st.text(alphabet=st.sampled_from("ab. \n!"), max_size=2_000))
def test_no_word_of_a_message_is_lost_and_no_passage_is_long(text: str) -> None:
    found = passages_of(text)
    assert all(len(each) <= MAX_PASSAGE for each in found)
    kept = "".join("".join(found).split())
    assert [c for c in kept if c.isalnum()] == [c for c in text if c.isalnum()]


def test_bm25_is_what_the_formula_says() -> None:
    texts = ["cat cat dog", "dog bird fish", "tree"]
    average, length = 7 / 3, 3.0
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 * 2.2 / (2 + 1.2 * (1 - 0.4 + 0.4 * length / average))
    assert bm25("cat?", texts) == [pytest.approx(expected), 0, 0]


def test_a_word_that_is_repeated_again_and_again_counts_as_four() -> None:
    documents = [Document({"cat": often}, 10) for often in (9, 4, 3)]
    nine, four, three = bm25_of(["cat"], documents)
    assert nine == four > three


def test_what_is_gone_still_counts_among_what_was_said() -> None:
    there = [Document({"cat": 1}, 2), Document({"dog": 1}, 1)]
    # Of ten documents with 30 terms one has the word: its length is 2 thirds of the average.
    expected = math.log(1 + 9.5 / 1.5) * 2.2 / (1 + 1.2 * (0.6 + 0.4 * 2 / 3))
    assert bm25_of(["cat"], there, Counted(10, 30)) == [pytest.approx(expected), 0]
    assert bm25_of(["cat"], [], Counted(0, 0)) == []


def test_scores_that_differ_behind_six_places_are_in_the_order_of_what_is_equal() -> None:
    assert best({"b": 0.1 + 0.2 + 0.3, "a": 0.3 + 0.2 + 0.1, "c": 0.61}, "abc") == ["c", "a", "b"]


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    first, second, *_ = bm25("blue kayak", ["blue boat", "red kayak", "blue car", "blue sky"])
    assert second > first > 0


def test_scores_are_scaled_by_their_most_and_added() -> None:
    found = fused({"both": Scored(4.0, 0.4), "words": Scored(2.0, -0.1), "alike": Scored(0.0, 0.8)})
    assert found == pytest.approx({"both": 0.5 + 0.25, "words": 0.25, "alike": 0.5})
    assert fused({"a": Scored(4.0, None), "b": Scored(1.0, None)}) == {"a": 1.0, "b": 0.25}


def test_half_of_a_score_is_that_of_the_best_of_the_same_message() -> None:
    scores = {("m", 0): 1.0, ("m", 1): 0.25, ("n", 0): 0.5}
    found = with_the_best_beside(scores, lambda place: place[0])
    assert found == {("m", 0): 1.0, ("m", 1): 0.625, ("n", 0): 0.5}


def test_what_stands_beside_the_best_comes_before_what_is_a_little_better_alone() -> None:
    best, beside = hit("Our new kiln is hot."), hit("It came from Delft.", number=1, lexical=0.25)
    other = hit("The old kiln.", version=Version(2), lexical=0.5)
    assert [each.text for each, _ in ranked([other, beside, best])] == [
        best.text,
        beside.text,
        other.text,
    ]


def test_what_is_said_twice_is_shown_once_and_a_fact_comes_first() -> None:
    fact = hit("seat: aisle", tier="fact", ref="f", version=Version(2))
    found = ranked([hit("Seat:  AISLE", version=Version(3)), fact, hit("other", lexical=0.2)])
    assert [each.text for each, _ in found] == ["seat: aisle", "other"]


def test_a_summary_that_repeats_what_was_said_is_not_shown_beside_it() -> None:
    summary = hit("Asked: Where is the kiln?", tier="summary", role="", lexical=0.5)
    done = hit("Done: refund", tier="summary", role="", number=1, lexical=0.4)
    said = hit("Where is the kiln?", version=Version(2))
    assert [each.text for each, _ in ranked([summary, done, said])] == [said.text, done.text]


def test_a_fact_that_does_not_hold_is_left_out_and_one_said_twice_has_its_first_id() -> None:
    hits = [hit("a", tier="fact", ref=ref) for ref in ("old", "again", "first")] + [hit("b")]
    kept = holding(hits, {"first": "first", "again": "first"})
    assert [each.ref for each in kept] == ["first", "first", "m"]


def test_a_fact_is_a_line() -> None:
    assert fact_text("reservation/HATHAT/last_action", "cancelled") == (
        "reservation HATHAT last action: cancelled"
    )
    assert fact_text("seats", 2) == "seats: 2"
    assert fact_text("text", "I collect stamps") == "I collect stamps"


class Counting:
    """A model, and read models in which nothing is found; they note what they are asked."""

    model = "counting"

    def __init__(self, *, compares: bool = True) -> None:
        self.compares = compares
        self.embedded: list[str] = []
        self.asked: list[Asked] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.embedded += texts
        return [[1.0] for _ in texts]

    async def can_compare(self) -> bool:
        return self.compares

    async def find(self, asked: Asked) -> Sequence[Hit]:
        self.asked.append(asked)
        return []

    async def texts(self, entities: Sequence[StreamId], events: Collection[Event]) -> Texts:
        raise AssertionError((entities, events))


async def test_the_model_is_asked_once_however_many_entities_are_searched() -> None:
    counting, entities = Counting(), [StreamId("user/acme/u"), StreamId("account/acme/a")]
    assert len(await find_of_each(counting, entities, "blue kayaks", counting)) == 2
    assert counting.embedded == ["blue kayaks"]
    asked = [(each.entity, each.terms, each.model) for each in counting.asked]
    assert asked == [(each, ["blue", "kayak"], "counting") for each in entities]
    assert [await each.vector for each in counting.asked if each.vector] == [[1.0], [1.0]]
    assert await find_of_each(counting, entities, " ", counting) == [(), ()]
    assert len(counting.asked) == 2  # a blank is looked for nowhere


async def test_no_model_is_loaded_where_there_is_nothing_to_compare_with() -> None:
    wordy = Counting(compares=False)
    await find_of_each(wordy, [StreamId("user/acme/u")], "blue kayaks")
    assert wordy.asked == [Asked(StreamId("user/acme/u"), ["blue", "kayak"])]


def test_as_many_are_wanted_as_there_is_room_for_and_ten_where_nothing_bounds_them() -> None:
    assert (checked(None, None), checked(None, 500), checked(3, 500)) == (10, 100, 3)


@pytest.mark.parametrize(("k", "max_tokens"), [(0, None), (101, None), (10, 0)])
def test_numbers_that_make_no_sense_are_refused(k: int, max_tokens: int | None) -> None:
    with pytest.raises(ValueError, match="is not"):
        checked(k, max_tokens)
