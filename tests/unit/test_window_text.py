"""What a window does with text: long output is cut the same every time, identifiers are found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.windows.identifiers import (
    PATTERN,
    Identifier,
    identifiers_in,
    stretches,
)
from agentjournal.windows.tokens import default_count
from agentjournal.windows.tool_output import cut_output


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("url", "https://shop.example/o/7?x=1", "see https://shop.example/o/7?x=1."),
        ("email", "ada.l+x@mail.example.org", "write to ada.l+x@mail.example.org, please"),
        ("date", "2026-01-31", "due 2026-01-31"),
        ("date", "May 5, 2024", "from May 5, 2024 on"),
        ("date", "5 March 2024", "on 5 March 2024"),
        ("date", "31.01.2026", "am 31.01.2026"),
        ("amount", "$1,234.50", "pay $1,234.50 now"),
        ("amount", "12 EUR", "it is 12 EUR"),
        ("amount", "99€", "costs 99€ only"),
        ("path", "/srv/app/main.py", "in /srv/app/main.py:"),
        ("path", "src/app.py", "open src/app.py"),
        ("path", "~/notes/todo.md", "my ~/notes/todo.md"),
        ("number", "#W2378156", "order #W2378156"),
        ("number", "W2378156", "order W2378156"),
        ("number", "48213", "order 48213"),
        ("number", "gift_card_4421", "use gift_card_4421"),
        ("number", "HAT069", "flight HAT069"),
        ("number", "yusuf_rossi_9620", "I am yusuf_rossi_9620"),
        ("number", "INV-2024-0017", "invoice INV-2024-0017"),
    ],
)
def test_an_identifier_is_found_as_it_was_written(kind: str, value: str, text: str) -> None:
    assert list(identifiers_in(text)) == [Identifier(kind, value)]  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "two or 3 things", "and/or", "e.g. this", "I have 15 of 20"])
def test_plain_words_and_small_numbers_are_none(text: str) -> None:
    assert list(identifiers_in(text)) == []


@given(st.text(max_size=200))
def test_any_text_has_identifiers_that_stand_in_it(text: str) -> None:
    assert all(name.value in text for name in identifiers_in(text))


_SAID = (
    *("word", "Jan", "5", "2024", "5.", "EUR", "12", "$", "7", "1", "000", "000,50", "a@b.de"),
    *("x/y.py", "~/n", "INV-2024-0017", "#7a", "user_42", "AB1C", "https://e.org/a,", "a\nb"),
    *("\n", "31.01.2026", "and/or", "\u0663", "€", "-", "abcdefab-abcd-abcd-abcd-abcdefabcdef"),
)
_WORDS = st.lists(st.sampled_from(_SAID) | st.text(max_size=3), max_size=12)


@given(_WORDS)
def test_where_nothing_hints_at_an_identifier_there_is_none(words: list[str]) -> None:
    text = " ".join(words)
    everywhere = [found.group() for found in PATTERN.finditer(text)]
    looked_at = [m.group() for a, b in stretches(text) for m in PATTERN.finditer(text, a, b)]
    assert looked_at == everywhere


def test_long_text_is_looked_through_in_no_time() -> None:
    for text in ("7" * 300_000, "7 " * 150_000, "a" * 300_000 + "7", "a " * 150_000 + "7"):
        assert sum(end - start for start, end in stretches(text)) <= len(text)


def test_short_output_is_shown_whole() -> None:
    assert cut_output("x" * 100, "v 3", 100) == "x" * 100


def test_long_output_is_cut_at_lines_and_says_what_is_missing_and_where() -> None:
    lines = [f"line {n:04}" for n in range(1_000)]  # 10 characters each with its break
    shown = cut_output("\n".join(lines), "version 7", 100).split("\n")
    marker = next(n for n, line in enumerate(shown) if line.startswith("["))
    head, tail = shown[:marker], shown[marker + 1 :]
    assert head == lines[: len(head)]
    assert tail == lines[-len(tail) :]
    missing = len("\n".join(lines)) - len("\n".join(head)) - len("\n".join(tail))
    # Every line that is missing ends in a break, and one break is before the first of them.
    assert shown[marker] == (
        f"[{1_000 - len(head) - len(tail) + 1:,} lines, {missing:,} characters left out; "
        "whole in version 7]"
    )


@given(st.text(max_size=400), st.integers(1, 100))
def test_what_is_shown_is_a_head_and_a_tail_of_the_output(text: str, most: int) -> None:
    shown = cut_output(text, "w", most)
    if len(text) <= most:
        assert shown == text
        return
    before, _, after = shown.partition("\n[")
    tail = after.partition("whole in w]\n")[2]
    assert text.startswith(before)
    assert text.endswith(tail)
    assert len(before) + len(tail) <= most


def test_tokens_are_those_of_cl100k_base() -> None:
    count = default_count()
    # As published: a common word with the space before it is one token.
    assert count("hello world") == 2
    assert count("tiktoken is great!") == 6
    assert count("") == 0
    assert count("<|endoftext|>") > 1  # what a user writes is never a special token


@given(st.text(st.characters(), max_size=50))
def test_any_text_can_be_counted(text: str) -> None:
    assert default_count()(text) >= (1 if text else 0)
