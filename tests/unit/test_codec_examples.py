"""Values and their bytes, fixed for ever: logs hold such bytes."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from agentjournal.codec import decode, encode


def nested(times: int, opening: bytes, inside: bytes, closing: bytes) -> bytes:
    return opening * times + inside + closing * times


def lists(times: int, value: Any) -> Any:
    for _ in range(times):
        value = [value]
    return value


EXAMPLES: list[tuple[Any, bytes]] = [
    (None, b"null"),
    (True, b"true"),
    (False, b"false"),
    (0, b"0"),
    (9223372036854775807, b"9223372036854775807"),
    (-9223372036854775808, b"-9223372036854775808"),
    (9223372036854775808, b'{"$int":"9223372036854775808"}'),
    (-9223372036854775809, b'{"$int":"-9223372036854775809"}'),
    (2**70, b'{"$int":"1180591620717411303424"}'),
    (2**16_000, b'{"$int":"0x1' + b"0" * 4000 + b'"}'),
    (-(2**16_000), b'{"$int":"-0x1' + b"0" * 4000 + b'"}'),
    (0.5, b"0.5"),
    (-0.0, b"-0.0"),
    (nan, b'{"$float":"nan"}'),
    (inf, b'{"$float":"inf"}'),
    (-inf, b'{"$float":"-inf"}'),
    ("", b'""'),
    ("é😀", '"é😀"'.encode()),
    ("\0", b'"\\u0000"'),
    ("\ud800", b'{"$text":[55296]}'),
    ("abc\ud83ddef", b'{"$text":["abc",55357,"def"]}'),
    ("\ud83d\ude00", b'{"$text":[55357,56832]}'),
    (b"", b'{"$bytes":""}'),
    (b"\x00\x01", b'{"$bytes":"AAE="}'),
    ([], b"[]"),
    ({}, b"{}"),
    ([1, "a", None], b'[1,"a",null]'),
    ({"b": 1, "a": [2]}, b'{"b":1,"a":[2]}'),
    ({"$int": 1}, b'{"$dict":[["$int",1]]}'),
    ({"$foo": None}, b'{"$dict":[["$foo",null]]}'),
    ({"$": 0}, b'{"$dict":[["$",0]]}'),
    ({"$a": 1, "b": 2}, b'{"$a":1,"b":2}'),
    ({"\ud800": 1}, b'{"$dict":[[{"$text":[55296]},1]]}'),
    (
        {"a": 1, "\ud800": {"$x": b"x"}},
        b'{"$dict":[["a",1],[{"$text":[55296]},{"$dict":[["$x",{"$bytes":"eA=="}]]}]]}',
    ),
    ({"$dict": [["a", 1]]}, b'{"$dict":[["$dict",[["a",1]]]]}'),
    (lists(91, "end"), nested(91, b"[", b'"end"', b"]")),
    (lists(92, "end"), nested(91, b"[", b'{"$deep":[["end"]]}', b"]")),
    (
        lists(93, {"a": {"$ref": 0}, "\ud800": 2**64}),
        nested(
            91,
            b"[",
            b'{"$deep":[{"$dict":[["$ref",0]]},{"$dict":[["a",{"$ref":0}],[{"$text":[55296]},'
            b'{"$int":"18446744073709551616"}]]},[{"$ref":1}],[{"$ref":2}]]}',
            b"]",
        ),
    ),
]


@pytest.mark.parametrize(("value", "raw"), EXAMPLES, ids=[str(raw[:40]) for _, raw in EXAMPLES])
def test_bytes_that_may_be_in_a_log_are_read_as_the_same_value_for_ever(
    value: Any, raw: bytes
) -> None:
    assert ascii_form(decode(raw)) == ascii_form(value)


@pytest.mark.parametrize(("value", "raw"), EXAMPLES, ids=[str(raw[:40]) for _, raw in EXAMPLES])
def test_a_value_has_the_same_bytes_in_every_release(value: Any, raw: bytes) -> None:
    assert encode(value) == raw


@pytest.mark.parametrize("raw", [b"1e16", b"1e+16", b"1E16", b"10000000000000000.0"])
def test_every_spelling_of_a_float_is_read(raw: bytes) -> None:
    assert ascii_form(decode(raw)) == "1e+16"


def ascii_form(value: Any) -> str:
    return hex(value) if type(value) is int else ascii(value)
