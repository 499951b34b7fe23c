"""Reading JSON values one after the other: what is whole is kept, what is not is named."""

from __future__ import annotations

import json
import math
import sys

import pytest

from importers.json_values import CUT, Fault, Value, read_values
from importers.source import Source


def values(text: str) -> list[object]:
    return [found.value for found in read_values(text) if isinstance(found, Value)]


def faults(text: str) -> list[tuple[str, bool]]:
    found = [each for each in read_values(text) if isinstance(each, Fault)]
    return [(text[each.start : each.end], each.cut) for each in found]


@pytest.mark.parametrize("between", ["\n", "", " ", "\r\n", "\n\n", ",\n", "\x1e", "\ufeff"])
def test_values_may_follow_each_other_with_anything_blank_between(between: str) -> None:
    assert values(between.join(['{"a": 1}', '{"b": 2}', '{"c": 3}'])) == [
        {"a": 1},
        {"b": 2},
        {"c": 3},
    ]


def test_a_value_may_span_lines() -> None:
    documents = [{"a": [1, {"b": None}]}, {"c": "d"}]
    assert values("\n".join(json.dumps(each, indent=2) for each in documents)) == documents


def test_a_garbage_line_costs_only_itself() -> None:
    text = '{"a": 1}\nnot json at all\n{"b": 2}\n'
    assert values(text) == [{"a": 1}, {"b": 2}]
    assert faults(text) == [("not json at all\n", False)]


def test_a_broken_second_object_on_a_line_costs_only_that_object() -> None:
    text = '{"a": 1}{"b": \n{"c": 3}'
    assert values(text) == [{"a": 1}, {"c": 3}]
    assert faults(text) == [('{"b": \n', False)]


def test_a_cut_last_line_is_told_from_a_broken_one() -> None:
    text = '{"a": 1}\n{"b": [2, '
    assert values(text) == [{"a": 1}]
    assert faults(text) == [('{"b": [2, ', True)]


def test_of_a_cut_list_the_whole_items_are_kept() -> None:
    assert values('[{"a": 1}, {"b": 2}, {"c": ') == [[{"a": 1}, {"b": 2}]]
    (found,) = read_values('[{"a": 1}, {"b": 2}, {"c": ')
    assert isinstance(found, Value)
    assert found.items is not None
    assert found.items[2] == Fault(21, 27, CUT, cut=True)


def test_a_list_that_is_not_closed_is_cut() -> None:
    (found,) = read_values('[{"a": 1},')
    assert isinstance(found, Value)
    assert found.items == [Value({"a": 1}, 1, 9), Fault(10, 10, CUT, cut=True)]


def test_a_broken_item_of_a_list_with_an_item_a_line_costs_only_itself() -> None:
    text = json.dumps([{"a": {"b": 1}}, {"c": {"d": 2}}, {"e": 3}], indent=1)
    broken = text.replace('"c": {', '"c" {')
    (found,) = read_values(broken)
    assert isinstance(found, Value)
    assert found.value == [{"a": {"b": 1}}, {"e": 3}]


def test_of_a_cut_object_that_is_all_there_is_the_whole_members_are_kept() -> None:
    text = '{"id": "x", "messages": [{"a": 1}, {"b": 2}, {"c": 3'
    value, fault = read_values(text)
    assert isinstance(value, Value)
    assert value.value == {"id": "x", "messages": [{"a": 1}, {"b": 2}]}
    assert isinstance(fault, Fault)
    assert text[fault.start :] == ', {"c": 3'
    assert fault.cut


def test_of_a_cut_object_in_a_file_of_several_nothing_is_kept() -> None:
    assert values('{"a": 1}\n{"messages": [{"b": 2}, ') == [{"a": 1}]


def test_lone_surrogates_nul_and_numbers_beyond_any_size_are_read() -> None:
    digits = "9" * 6_000
    (found,) = values(f'{{"a": "\\ud800\\u0000", "b": {digits}, "c": -{digits}, "d": NaN}}')
    assert isinstance(found, dict)
    assert found["a"] == "\ud800\0"
    assert found["b"] == 10**6_000 - 1
    assert found["c"] == 1 - 10**6_000
    assert math.isnan(found["d"])


def test_raw_control_characters_in_text_are_read() -> None:
    assert values('{"a": "x\ty\0z"}') == [{"a": "x\ty\0z"}]


def test_nesting_beyond_what_python_reads_costs_only_that_line() -> None:
    deep = "[" * (2 * sys.getrecursionlimit())
    assert values(f'{{"a": 1}}\n{{"b": {deep}\n{{"c": 3}}') == [{"a": 1}, {"c": 3}]


@pytest.mark.parametrize("text", ["", "  \n", "\ufeff"])
def test_nothing_is_read_from_nothing(text: str) -> None:
    assert read_values(text) == []


def test_offsets_count_bytes_whatever_stands_before() -> None:
    raw = 'é€😀"'.encode() + b"\xff\xfe" + "é!".encode()
    source = Source(raw)
    assert source.text == 'é€😀"\ufffd\ufffdé!'
    assert [source.offset(index) for index in range(9)] == [0, 2, 5, 9, 10, 11, 12, 14, 15]
    assert source.offset(1) == 2
    assert (source.replaced, source.first_replaced) == (2, 10)


def test_bytes_that_are_utf_8_are_not_touched() -> None:
    source = Source("\ufffd is a character like any other".encode())
    assert source.replaced == 0
    assert source.first_replaced is None
