"""Text for reading: what Postgres cannot hold is replaced by a mark, the rest stays as it is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.plain_text import plain_text, storable

any_text = st.text(st.characters() | st.sampled_from("\0\ud83d\ude00"), max_size=8)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("a\0b\0", "a\u2400b\u2400"),
        ("a\ud800b", "a\ufffdb"),
        ("\udc00\ud800", "\ufffd\ufffd"),
        ("\ud83d\ude00", "😀"),  # two halves that meet are the character
        ("é😀\u2028\uffff\U0010ffff", "é😀\u2028\uffff\U0010ffff"),
        ("", ""),
    ],
)
def test_text_is_stored_as_it_is_but_for_what_postgres_refuses(text: str, stored: str) -> None:
    assert storable(text) == stored


@pytest.mark.parametrize("value", [None, 1, 1.5, True, ["a\0"], {"a": "\0"}, b"\0"])
def test_what_is_no_text_stays_as_it_is(value: Any) -> None:
    assert storable(value) is value


@given(any_text)
def test_postgres_takes_whatever_comes_out(text: str) -> None:
    stored = storable(text)
    assert "\0" not in stored
    stored.encode()
    if not re.search("[\0\ud800-\udfff]", text):
        assert stored == text
    assert storable(stored) == stored


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([], ""),
        ([{"type": "text", "text": "a"}], "a"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "refusal", "text": "no"}, {"type": "reasoning", "text": "thought"}], "no"),
        ([{"type": "tool_call", "text": "x"}, {"type": "image", "uri": "u"}], ""),
        ([{"type": "text"}, {"type": "text", "text": 7}, "text", None, 7], ""),
        ([{"type": "text", "text": ""}, {"type": "text", "text": "b"}], "\nb"),
    ],
)
def test_plain_text_is_what_was_said_a_line_break_between_two_parts(
    parts: list[Any], text: str
) -> None:
    assert plain_text(parts) == text
