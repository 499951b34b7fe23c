"""What is shown of what was found: within a budget, with what stands around it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from agentjournal.ids import StreamId, Version
from agentjournal.memory.recall_api import block_within, recall
from agentjournal.memory.recalling import HEADING, block_of
from agentjournal.memory.recalls import Asked, Event, Hit, Recalled, Texts, Tier
from agentjournal.memory.showing import Budget, best_alone, best_within

ENTITY, STREAM = StreamId("user/acme/u"), StreamId("session/acme/s")
SENTENCES = ["a a", "b", "c c c", "d", "e e"]


def hit(number: int, version: int = 1, tier: Tier = "message", text: str | None = None) -> Hit:
    return Hit(
        stream=STREAM,
        version=Version(version),
        number=number,
        tier=tier,
        role="user",
        ref="m",
        event_id="e",
        text=SENTENCES[number] if text is None else text,
        said_at=datetime(2026, 1, 2, tzinfo=UTC),
        lexical=1.0,
    )


def words(text: str) -> int:
    return len(text.split())


def shown(numbers: Sequence[int], max_tokens: int, k: int = 10) -> list[str]:
    """Return what is shown of one message whose sentences are found in this order."""
    hits = [(hit(number), 1.0) for number in numbers]
    texts = {(STREAM, Version(1)): SENTENCES}
    return [each.text for each in best_within(hits, texts, Budget(k, max_tokens, words))]


def alone(texts: Sequence[str], budget: Budget) -> list[Recalled]:
    hits = [(hit(0, at + 1, text=text), 1.0) for at, text in enumerate(texts)]
    return best_within(hits, {}, budget)


def test_what_does_not_fit_makes_room_for_what_does() -> None:
    chosen = alone(["one two three", "four five six seven", "eight"], Budget(10, 4, words))
    assert [each.text for each in chosen] == ["one two three", "eight"]
    assert sum(each.tokens or 0 for each in chosen) == 4


def test_a_sentence_is_shown_with_those_around_it_in_half_of_what_is_left() -> None:
    assert shown([1], 18) == ["a a b c c c d e e"]  # 9 words are half
    assert shown([1], 17) == ["a a b c c c d"]
    assert shown([1], 12) == ["a a b c c c"]
    assert shown([1], 11) == ["b c c c"]
    assert shown([1], 7) == ["b"]  # the one behind it comes first, and is too long
    assert shown([1], 1) == ["b"]
    assert shown([2], 2) == []


def test_what_was_shown_around_another_is_not_shown_again() -> None:
    # Half of 10 has room for "d" and what is behind it; then 7 are left, and half is too few.
    assert shown([3, 4, 1], 10) == ["d e e", "b"]
    assert shown([3, 4, 1], 12) == ["c c c d e e", "a a b"]


def test_no_more_are_shown_than_asked_for() -> None:
    assert shown([3, 1], 100, k=1) == ["a a b c c c d e e"]
    assert [each.text for each in best_alone([(hit(3), 1.0), (hit(1), 0.5)], 1)] == ["d"]


def test_a_text_that_takes_more_than_its_parts_is_shown_without_them() -> None:
    def squared(text: str) -> int:
        return len(text.strip()) ** 2

    hits = [(hit(0, text="a"), 1.0)]
    texts = {(STREAM, Version(1)): ["a", "b", "c"]}
    # Alone 1, and its parts 3; "a b c" as a whole 25.
    assert [each.text for each in best_within(hits, texts, Budget(9, 8, squared))] == ["a"]
    assert [each.text for each in best_within(hits, texts, Budget(9, 25, squared))] == ["a b c"]


class Finding:
    """Read models in which these hits are found, of messages with these sentences."""

    def __init__(self, hits: Sequence[Hit], texts: Texts | None = None) -> None:
        self.hits, self._texts = hits, texts or {}
        self.asked: list[tuple[list[StreamId], set[Event]]] = []

    async def can_compare(self) -> bool:
        return False

    async def find(self, asked: Asked) -> Sequence[Hit]:
        assert asked.entity == ENTITY
        return self.hits

    async def texts(self, entities: Sequence[StreamId], events: Collection[Event]) -> Texts:
        self.asked.append((list(entities), set(events)))
        return self._texts


async def test_only_what_may_be_shown_is_looked_up_and_only_within_a_budget() -> None:
    fact = hit(0, 9, "fact", "x")
    found = Finding([hit(2), hit(1, 2), fact], {(STREAM, Version(1)): SENTENCES})
    assert len(await recall(found, ENTITY, "words")) == 3
    assert found.asked == []
    # "c c c" has no room, so nothing of its message is read; of a fact there is no more.
    [first, second] = await recall(found, ENTITY, "words", max_tokens=2, count=words)
    assert found.asked == [([ENTITY], {(STREAM, Version(2))})]
    assert {first.text, second.text} == {"b", "x"}
    found = Finding([fact])
    assert [each.text for each in await recall(found, ENTITY, "w", max_tokens=2, count=words)]
    assert found.asked == []


async def block(texts: Sequence[str], budget: Budget) -> tuple[str, list[Recalled]]:
    hits = [(hit(0, at + 1, text=text), 1.0) for at, text in enumerate(texts)]
    return await block_within(Finding([]), [ENTITY], hits, budget)


async def test_a_block_shows_a_message_with_who_said_it_and_when() -> None:
    found = Finding([], {(STREAM, Version(1)): SENTENCES})
    hits = [(hit(1), 1.0), (hit(0, 9, "fact", "seat: aisle"), 0.5)]
    text, _ = await block_within(found, [ENTITY], hits, Budget(10, 500, words))
    assert text == (f"{HEADING}\n- 2026-01-02, user: a a b c c c d e e\n- 2026-01-02: seat: aisle")


async def test_a_block_whose_lines_take_more_together_loses_the_last() -> None:
    def squared(text: str) -> int:
        return len(text.split("\n")) ** 2

    # One by one: 1 for the heading and 4 for each line. Together: 16, 9 without the last.
    text, chosen = await block("abc", Budget(5, 13, squared))
    assert ([each.text for each in chosen], squared(text)) == (["a", "b"], 9)


async def test_a_block_takes_what_is_further_behind_where_what_is_in_front_is_too_long() -> None:
    _, chosen = await block(["x" * 400, "y" * 400, "a", "b"], Budget(2, 200, len))
    assert [each.text for each in chosen] == ["a", "b"]


@given(
    st.lists(st.text("ab ", min_size=1, max_size=40), max_size=8),
    st.lists(st.integers(0, 7), unique=True),
    st.integers(1, 120),
)
async def test_nothing_shown_ever_has_more_tokens_than_asked_for(
    texts: list[str], found: list[int], most: int
) -> None:
    hits = [(hit(at, text=texts[at]), 1.0) for at in found if at < len(texts)]
    around = {(STREAM, Version(1)): texts}
    chosen = best_within(hits, around, Budget(5, most, len))
    assert sum(len(each.text) for each in chosen) <= most
    assert len(chosen) <= 5
    budget = Budget(5, most, len)
    text, kept = await block_within(Finding([], around), [ENTITY], hits, budget)
    assert len(text) <= most
    assert text == block_of(kept)
