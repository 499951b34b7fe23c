"""Text of others on a terminal: nothing in it but letters, spaces and line breaks has an effect."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.harmless import as_cell, harmless, one_line

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("plain, ünïcode, 日本, 👩‍💻", "plain, ünïcode, 日本, 👩‍💻"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("two\r\nlines", "two\nlines"),
        ("over\rwritten", "over\\x0dwritten"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x9b31m", "\\x9b31m"),
        ("\0 \x07 \x7f", "\\x00 \\x07 \\x7f"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("\ud800 half", "\\ud800 half"),
        ("\U000e0041 tag", "\\U000e0041 tag"),
        ("[bold]no markup[/bold]", "[bold]no markup[/bold]"),
    ],
)
def test_control_characters_are_shown_as_escapes(written: str, shown: str) -> None:
    assert harmless(written) == shown


@given(ANY_TEXT)
def test_nothing_that_is_shown_controls_a_terminal(text: str) -> None:
    shown = harmless(text)
    assert {c for c in shown if unicodedata.category(c) in {"Cc", "Cs"}} <= {"\n", "\t"}
    assert not {c for c in shown if unicodedata.bidirectional(c) in {"RLO", "LRO", "RLI", "LRI"}}
    shown.encode()


@given(ANY_TEXT, st.integers(1, 50))
def test_one_line_has_no_breaks_and_no_more_than_it_may(text: str, most: int) -> None:
    line = one_line(text, most)
    assert len(line) <= most
    assert not set(line) & {"\n", "\t"}
    whole = one_line(text)
    assert line == whole or (line.endswith("…") and whole.startswith(line[:-1].rstrip()))


def test_a_cell_keeps_its_spaces_and_shows_its_breaks() -> None:
    assert as_cell("  ->  Seq Scan\n\tFilter") == "  ->  Seq Scan\\n\\tFilter"
