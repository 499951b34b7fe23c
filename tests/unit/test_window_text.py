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
        ("number", "6612 0094", "my account is 6612 0094, and"),
        ("number", "+44 20 7946 0018", "call +44 20 7946 0018 now"),
        ("number", "77 4102 993 B", "it is 77 4102 993 B"),
        ("number", "QW 339 120", "add QW 339 120."),
        ("number", "DE44 5001 0517 5407 3249 31", "to DE44 5001 0517 5407 3249 31, please"),
        ("number", "M 20 771", "read M 20 771 out"),
        ("number", "GB 417 2090 66", "GB 417 2090 66."),
        ("number", "LM 20 XKE", "plate LM 20 XKE, for"),
        ("number", "R 418 KEW", "registered R 418 KEW"),
        ("number", "B-MK 4471", "plate B-MK 4471"),
        ("number", "YK19 HVU", "reg is YK19 HVU"),
        ("number", "HG1 9ZZ", "Harrogate HG1 9ZZ."),
        ("number", "PX-118", "employee PX-118 here"),
        ("number", "77-1042", "Badge 77-1042, door"),
        ("number", "20-118-M7", "came out as 20-118-M7."),
        ("number", "22/301/4471", "Tax no. 22/301/4471."),
        ("number", "BZ.7741.02", "It says BZ.7741.02 on"),
        ("number", "72918334T", "my NIF is 72918334T."),
        ("number", "b-31", '{"bike_id": "b-31"}'),
        ("number", "weaverbird", '{"user_id": "weaverbird"}'),
        ("number", "HATHAT", '{"reservation_id":"HATHAT"}'),
        ("number", "weaverbird", "it is username weaverbird all one word"),
        ("number", "hollowreed", "My username is hollowreed."),
        ("number", "mossgoblin", "my handle is now mossgoblin, add me"),
        ("number", "zmbeki", "please log me in as zmbeki"),
        ("url", "git.example.org/finance/ledger", "at git.example.org/finance/ledger."),
    ],
)
def test_an_identifier_is_found_as_it_was_written(kind: str, value: str, text: str) -> None:
    assert list(identifiers_in(text)) == [Identifier(kind, value)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "two or 3 things",
            "and/or",
            "e.g. this",
            "I have 15 of 20",
            "24/7, 9-5, in 10-12 days",
        ),
        *("UTF-8", "the top-10", "A 100 GB disk", "at 10 AM", "version 2.3.1", "10 20 30 40 50 60"),
        *('{"state": "open"}', '{"grid": "wide"}', "Q3 AND Q4", "I am 41 and HE is 40", "EC2 VPC"),
        *("the login is broken", "a username field", "handle the rest", "logged in as admin"),
    ],
)
def test_plain_words_and_small_numbers_are_none(text: str) -> None:
    assert list(identifiers_in(text)) == []


@given(st.text(max_size=200))
def test_any_text_has_identifiers_that_stand_in_it(text: str) -> None:
    assert all(name.value in text for name in identifiers_in(text))


_SAID = (
    *("word", "Jan", "5", "2024", "5.", "EUR", "12", "$", "7", "1", "000", "000,50", "a@b.de"),
    *("x/y.py", "~/n", "INV-2024-0017", "#7a", "user_42", "AB1C", "https://e.org/a,", "a\nb"),
    *("6612", "0094", "QW", "M", "20", "XKE", "YK19", "9ZZ", "PX-118", "22/301/4471", "B", "GB"),
    *("username", "is", "login", "handle:", "logged", "in", "as", "weaverbird", "now"),
    *('{"user_id":', '"weaverbird"}', '"code":"x"', "+44", "72918334T", "b-31", "e.org/a"),
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
