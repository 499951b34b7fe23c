"""Long texts as head and tail: what is not shown is counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commands.cutting import (
    HEAD_CHARACTERS,
    HEAD_LINES,
    TAIL_CHARACTERS,
    TAIL_LINES,
    Cut,
    cut,
    missing_line,
)


def test_many_lines_are_cut_to_the_first_and_the_last() -> None:
    text = "".join(f"line {number}\n" for number in range(300))
    found = cut(text)
    assert found.head.splitlines() == [f"line {n}" for n in range(10)]
    assert found.tail.splitlines() == [f"line {n}" for n in range(295, 300)]
    # 285 lines are missing: 10 to 99 have 8 characters with their break, 100 to 294 have 9.
    assert (found.missing_lines, found.missing_characters) == (285, 90 * 8 + 195 * 9)
    assert missing_line(found) == "… 285 lines, 2,475 characters not shown (--full shows all)"


def test_one_long_line_is_cut_by_characters() -> None:
    found = cut("x" * 10_000)
    assert (found.head, found.tail) == ("x" * HEAD_CHARACTERS, "x" * TAIL_CHARACTERS)
    assert missing_line(found) == "… 8,200 characters not shown (--full shows all)"


def test_what_is_short_is_whole() -> None:
    text = "\n".join(str(number) for number in range(HEAD_LINES + TAIL_LINES))
    assert cut(text) == Cut(text, 0, 0, "")
    assert cut("") == Cut("", 0, 0, "")


@given(st.text(st.sampled_from("ab\n"), max_size=200), st.integers(1, 40))
def test_head_missing_and_tail_are_the_text(piece: str, times: int) -> None:
    text = piece * times
    found = cut(text)
    shown = len(found.head) + len(found.tail) + found.missing_characters
    assert len(text) - shown in {0, 1}  # the break at the end of the head is no text
    assert text.startswith(found.head)
    assert text.endswith(found.tail)
    assert found.head.count("\n") < HEAD_LINES or not found.missing_characters
    assert len(found.head) <= HEAD_CHARACTERS or not found.missing_characters
