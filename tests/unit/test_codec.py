"""The codec: every JSON-like value comes back as it was, through strict JSON."""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable, Generator
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from agentjournal.codec import MAX_DEPTH, check_json, decode, encode
from agentjournal.codec_form import depth

surrogate_text = st.text(st.characters(), max_size=6) | st.text("a$\0\ud83d\ude00😀é", max_size=6)
keys = surrogate_text | st.sampled_from(
    ["$int", "$float", "$bytes", "$text", "$dict", "$deep", "$"]
)
integers = st.integers() | st.integers(-(2**70), 2**70) | st.sampled_from([2**63, -(2**63) - 1])
leaves = st.none() | st.booleans() | integers | st.floats() | surrogate_text | st.binary(max_size=9)
values = st.recursive(
    leaves, lambda inside: st.lists(inside) | st.dictionaries(keys, inside), max_leaves=12
)
looks_escaped = st.dictionaries(
    keys, values | st.lists(st.lists(values, max_size=2)), min_size=1, max_size=1
)


def nested(value: Any, times: int, around: Callable[[Any], Any]) -> Any:
    for _ in range(times):
        value = around(value)
    return value


Around = Callable[[Any], Any]


def in_list(value: Any) -> Any:
    return [value]


def in_dict(value: Any) -> Any:
    return {"a": value}


def in_escaped_dict(value: Any) -> Any:
    return {"$deep": value}


def under_surrogate(value: Any) -> Any:
    return {"\ud800": value}


def beside_others(value: Any) -> Any:
    return [1, {"\udfff": value, "b": [b"\0", {"$ref": 0}], "c": {}}, "\ud800", []]


AROUNDS: list[Around] = [in_list, in_dict, in_escaped_dict, under_surrogate, beside_others]
arounds = st.sampled_from(AROUNDS)
deep_values = st.builds(nested, values, st.integers(60, 300), arounds)


def exactly(value: Any) -> str:
    """Return text that tells apart types, signs of zero, and the order of keys; NaN is NaN."""
    return ascii(value)


def refuse_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


@given(values | looks_escaped | deep_values)
def test_every_value_comes_back_as_it_was(value: Any) -> None:
    assert exactly(decode(encode(value))) == exactly(value)


@given(values | looks_escaped | deep_values)
def test_what_is_written_is_strict_json_of_bounded_depth(value: Any) -> None:
    raw = encode(value)
    raw.decode("utf-8", "strict")
    assert depth(raw) <= MAX_DEPTH
    assert check_json(b'{"data":%s}' % raw) is None or depth(raw) == MAX_DEPTH
    read_by_python = json.loads(raw, parse_constant=refuse_constant)
    assert orjson.loads(raw) == read_by_python
    TypeAdapter(Any).validate_json(raw)


@given(values)
def test_the_value_that_was_given_is_not_changed(value: Any) -> None:
    before = exactly(value)
    encode(value)
    assert exactly(value) == before


@given(st.binary(max_size=40) | values.map(encode).map(lambda raw: raw[:-1]))
def test_reading_what_is_no_json_raises_a_value_error_and_nothing_else(raw: bytes) -> None:
    try:
        decode(raw)
    except ValueError:
        pass


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 99) | st.text("$a", max_size=3),
        lambda inside: (
            st.lists(inside, max_size=3)
            | st.dictionaries(keys.filter(str.isascii) | st.just("$ref"), inside, max_size=2)
        ),
    )
)
def test_no_json_of_a_foreign_writer_is_an_error_and_what_it_means_is_kept(foreign: Any) -> None:
    value = decode(orjson.dumps(foreign))
    assert exactly(decode(encode(value))) == exactly(value)


@pytest.mark.parametrize(
    "foreign",
    [
        {"$foo": 1},
        {"$int": 5},
        {"$int": "05"},
        {"$int": "5 "},
        {"$int": "\u0665"},
        {"$int": "0x"},
        {"$int": "1" * 4001},
        {"$float": "NaN"},
        {"$float": 1},
        {"$bytes": "AA"},
        {"$bytes": "A A="},
        {"$bytes": "é"},
        {"$bytes": None},
        {"$text": "a"},
        {"$text": [65]},
        {"$text": [True]},
        {"$text": [["a"]]},
        {"$dict": {"a": 1}},
        {"$dict": [["a"]]},
        {"$dict": [[1, 2]]},
        {"$dict": [["a", 1], ["a", 2]]},
        {"$ref": 0},
        {"$deep": []},
        {"$deep": [1]},
        {"$deep": [[{"$ref": 0}]]},
        {"$deep": [[], [{"$ref": True}]]},
        {"$deep": [[], [{"$ref": 0}, {"$ref": 0}]]},
        {"$deep": [[], []]},
        {"$deep": [[[]]]},
        {"$deep": [[{"a": 1}]]},
        {"$deep": [{"$dict": 1}]},
        {"$int": "5", "more": 1},
    ],
)
def test_an_object_that_only_resembles_an_escape_form_is_a_plain_dict(foreign: Any) -> None:
    assert exactly(decode(orjson.dumps(foreign))) == exactly(foreign)


def test_escape_forms_inside_what_only_resembles_one_are_read() -> None:
    assert decode(b'{"$dict":[["a",{"$int":"7"}],["a",{"$bytes":"AA=="}]]}') == {
        "$dict": [["a", 7], ["a", b"\0"]]
    }


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"18446744073709551616", 2**64),
        (b"-9223372036854775809", -(2**63) - 1),
        (b"[1,-123456789012345678901234567890]", [1, -123456789012345678901234567890]),
        (b'"12345678901234567890123"', "12345678901234567890123"),
        (
            b'{"\\"12345678901234567890":12345678901234567890123}',
            {'"12345678901234567890': 12345678901234567890123},
        ),
        (b"1.0000000000000000000000", 1.0),
        (b"12345678901234567890123e1", 12345678901234567890123e1),
        (b'{"$int":12345678901234567890123}', {"$int": 12345678901234567890123}),
        (b'{"\\u0024int":"5"}', 5),
    ],
)
def test_plain_json_of_foreign_writers_is_read_exactly(raw: bytes, value: Any) -> None:
    assert exactly(decode(raw)) == exactly(value)


@pytest.mark.parametrize(
    "raw", [b"01234567890123456789", b"12345678901234567890.", b"1" * 20 + b"x"]
)
def test_a_long_run_of_digits_that_is_no_number_stays_an_error(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"line 1"):
        decode(raw)


def test_integers_stay_exact_in_a_program_that_lowered_pythons_limit_of_digits() -> None:
    limit = sys.get_int_max_str_digits()
    value, raw = 10**3000, encode(10**3000)
    sys.set_int_max_str_digits(640)
    try:
        assert decode(raw) == value
        assert decode(encode(value)) == value
    finally:
        sys.set_int_max_str_digits(limit)


@pytest.mark.parametrize("digits", [3_999, 4_000, 4_001, 20_000])
@pytest.mark.parametrize("sign", [1, -1])
def test_integers_of_thousands_of_digits_are_exact_in_every_spelling(
    digits: int, sign: int
) -> None:
    value = sign * (10**digits + 7)
    plain = (b"-" if sign < 0 else b"") + b"1" + b"0" * (digits - 1) + b"7"
    assert decode(encode(value)) == value
    assert decode(plain) == value
    assert len(encode(value)) < digits + 20


@pytest.fixture
def without_gc() -> Generator[None]:
    """Let no time go into looking through all that other tests have left."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def innermost(value: Any) -> tuple[Any, int]:
    times = 0
    while isinstance(value, list | dict) and value:
        [value] = value.values() if isinstance(value, dict) else value
        times += 1
    return value, times


@pytest.mark.parametrize("around", [in_list, in_dict, under_surrogate])
@pytest.mark.parametrize("times", [1_000, 10_000])
def test_ten_thousand_levels_are_written_and_read(around: Around, times: int) -> None:
    raw = encode(nested("end", times, around))
    assert depth(raw) <= MAX_DEPTH
    assert len(raw) < 60 * times
    assert innermost(decode(raw)) == ("end", times)


@pytest.mark.usefixtures("without_gc")
def test_deep_values_take_time_in_proportion_to_their_size() -> None:
    def seconds(times: int) -> float:
        value = nested("end", times, in_list)
        started = time.process_time()  # whatever else the machine does
        decode(encode(value))
        return time.process_time() - started

    few = min(seconds(1_000) for _ in range(5))
    many = min(seconds(20_000) for _ in range(3))
    assert many < 130 * few  # twenty times as deep; were it quadratic, 400


def test_every_depth_around_the_limit_and_every_form_in_it_stays_within_the_limit() -> None:
    widest = {"\udfff": "\ud800", "b": b"x"}
    for times in range(80, 105):
        for around in (in_list, in_escaped_dict, under_surrogate):
            value = nested(widest, times, around)
            raw = encode(value)
            assert depth(raw) <= MAX_DEPTH
            assert exactly(decode(raw)) == exactly(value)
