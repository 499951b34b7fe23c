"""Values of SQL results: as text they lose nothing, as JSON neither."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from commands.postgres_analyst import Json
from commands.result_text import cell, distinct_names, json_row


@pytest.mark.parametrize(
    ("value", "text", "as_json"),
    [
        (None, "", "null"),
        (True, "true", "true"),
        (12, "12", "12"),
        (1.5, "1.5", "1.5"),
        (float("nan"), "nan", '"nan"'),
        (float("-inf"), "-inf", '"-inf"'),
        (Decimal("1.10"), "1.10", "1.10"),
        (Decimal("1E+3"), "1000", "1000"),
        (Decimal("123456789012345678901234567890.5"), "123456789012345678901234567890.5", None),
        (Decimal("NaN"), "NaN", '"NaN"'),
        ("a\n'b'", "a\n'b'", "\"a\\n'b'\""),
        (b"\x00\xff", "\\x00ff", '"\\\\x00ff"'),
        (Json('{"n": 1e400}'), '{"n": 1e400}', '{"n": 1e400}'),
        (Json('{\n "a": 1}'), '{\n "a": 1}', '{  "a": 1}'),
        ([1, None, Decimal("2.0")], "[1,null,2.0]", "[1,null,2.0]"),
        ([float("inf"), Json("{}")], '["inf",{}]', '["inf",{}]'),
    ],
)
def test_a_value_as_text_and_as_json(value: Any, text: str, as_json: str | None) -> None:
    assert cell(value) == text
    assert json_row(["v"], [value]).decode() == f'{{"v":{text if as_json is None else as_json}}}'


def test_a_row_is_an_object_by_the_names_of_its_columns() -> None:
    names = distinct_names(["a", "a", "a_2", "b"])
    assert names == ["a", "a_2", "a_2_2", "b"]
    assert json.loads(json_row(names, [1, 2, 3, 4])) == {"a": 1, "a_2": 2, "a_2_2": 3, "b": 4}
