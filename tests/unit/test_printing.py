"""Rows as aligned lines, and as a table that fits a terminal."""

from __future__ import annotations

import pytest

from commands.printing import Column, aligned

COLUMNS = (Column("name"), Column("count", "right"), Column("rest"))


def test_columns_are_aligned_under_their_names() -> None:
    rows = [["a", "1", "x y"], ["日本", "1000", ""], ["long name", "-", "z"]]
    assert list(aligned(COLUMNS, rows)) == [
        "name       count  rest",
        "a              1  x y",
        "日本        1000",
        "long name      -  z",
    ]


def test_without_rows_the_names_stand_alone() -> None:
    assert list(aligned(COLUMNS, [])) == ["name  count  rest"]


def test_a_row_is_one_line_and_harmless() -> None:
    assert list(aligned((Column("v"),), [["two\nlines\x1b[2J"]])) == ["v", "two\\nlines\\x1b[2J"]


@pytest.mark.parametrize("count", [0, 1, 499, 500, 501, 1_500])
def test_every_row_comes_once_whatever_their_number(count: int) -> None:
    rows = [[str(number), "", ""] for number in range(count)]
    assert [line.split()[0] for line in aligned(COLUMNS, rows)][1:] == [row[0] for row in rows]
