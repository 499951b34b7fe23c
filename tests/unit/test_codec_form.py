"""Which bytes may enter the log, and the words they are refused with."""

from __future__ import annotations

import json
import time
from math import isinf

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal import codec_form
from agentjournal.codec import MAX_DEPTH, FormError, check_json, decode, encode, parse_strict

NOT_JSON = "is not JSON as RFC 8259 defines it"
NOT_UTF8 = "is not UTF-8"
TOO_LARGE = "holds a number beyond the range of a double"
TOO_DEEP = "is nested deeper than 100"
NO_OBJECT = "is not an object"


def in_field(raw: bytes) -> bytes:
    return b'{"a":%s}' % raw


@pytest.mark.parametrize(
    "inside",
    [
        *b"NaN Infinity -Infinity nan True None undefined".split(),
        *b"01 -01 +1 .5 1. 1.e5 1e 1e+ --1 - 0x10 1_0".split(),
        *rb"""[1,] [,1] [ ] {"b":1,} {"b"} {b:1} {'b':1} {1:2}""".split(),
        *rb'"\ud800" "\udc00" "\udc00\ud800" "\ud800\u0041" "\ud800a"'.split(),
        *rb""" "\x41" "\u12" "\u12g4" "\" "a 'a' /*c*/1 1//c """.split(),
        *(b"1 1", b"[1 2]", b"", b"\x0c1", b"\x0b1", b"\xc2\xa01", b"\xe2\x80\xa81"),
        *(b'"\x00"', b'"\x1f"', b'"\n"'),
    ],
)
def test_what_rfc_8259_does_not_know_is_refused(inside: bytes) -> None:
    assert check_json(in_field(inside)) == NOT_JSON


@pytest.mark.parametrize(
    "raw", [b"", b" ", b"{}{}", b"{} 1", b"{}\x00", b"\x00{}", b"\xef\xbb\xbf{}", b"{}]", b'{"a":1']
)
def test_only_one_whole_document_is_taken(raw: bytes) -> None:
    assert check_json(raw) == NOT_JSON


@pytest.mark.parametrize(
    "text",
    [
        *(b"\xff", b"\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xc0\x80", b"\xc1\xbf"),
        *(b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf8\x88\x80"),
    ],
)
def test_what_is_not_strict_utf_8_is_refused_in_values_and_in_keys(text: bytes) -> None:
    assert check_json(b'{"a":"%s"}' % text) == NOT_UTF8
    assert check_json(b'{"%s":1}' % text) == NOT_UTF8


@given(st.binary(max_size=8))
def test_utf_8_is_judged_as_python_judges_it(text: bytes) -> None:
    text = bytes(byte for byte in text if byte >= 32 and byte not in b'"\\')
    try:
        text.decode()
    except UnicodeDecodeError:
        assert check_json(b'{"a":"%s"}' % text) == NOT_UTF8
    else:
        assert parse_strict(b'{"a":"%s"}' % text) == {"a": text.decode()}


@pytest.mark.parametrize(
    "number", [*b"1e400 -1e400 1E+309 1.7976931348623159e308 0.1e310".split(), b"1" + b"0" * 400]
)
def test_a_number_that_a_double_cannot_hold_is_refused(number: bytes) -> None:
    assert check_json(in_field(number)) == TOO_LARGE


@pytest.mark.parametrize(
    "number", b"1e308 1.7976931348623157e308 1e-400 0e999 0.0e400 -0 1e0000005".split()
)
def test_a_number_that_a_double_can_hold_or_round_is_taken(number: bytes) -> None:
    assert check_json(in_field(number)) is None
    assert check_json(b'{"a":"1e400"}') is None


@given(
    st.from_regex(
        rb"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?(3[01][0-9]|[0-9]))?", fullmatch=True
    )
)
def test_the_range_of_numbers_is_judged_as_python_judges_it(number: bytes) -> None:
    assert (check_json(in_field(number)) == TOO_LARGE) == isinf(float(number))


@pytest.mark.parametrize("raw", [b"[]", b"1", b"null", b'"a"', b"true"])
def test_the_top_is_an_object(raw: bytes) -> None:
    assert check_json(raw) == NO_OBJECT


def nested(depth: int, opening: bytes, closing: bytes) -> bytes:
    return in_field(opening * (depth - 1) + b"1" + closing * (depth - 1))


@pytest.mark.parametrize(
    ("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"[":', b"}]")]
)
def test_a_hundred_levels_are_taken_and_one_more_is_refused(opening: bytes, closing: bytes) -> None:
    levels = opening.count(b"[") + opening.count(b"{") - opening.count(b'"[')
    assert check_json(nested(1 + 98 // levels, opening, closing)) is None
    assert check_json(nested(1 + 100 // levels, opening, closing)) == TOO_DEEP


@pytest.mark.parametrize("depth", [101, 1_000, 100_000])
def test_any_depth_is_refused_before_a_library_sees_it(depth: int) -> None:
    assert check_json(nested(depth, b"[", b"]")) == TOO_DEEP
    assert check_json(b'{"a":' * depth) == TOO_DEEP


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":"' + b"[" * 101 + b'\\"' * 400_000,
        b'{"a":"' + b"[" * 101 + b"\\" * 800_000,
        b'{"a":' + b'"' * 900_000,
        b'{"a":' + b"1.1.1" * 180_000,
        b'{"a":' + b"-" * 900_000,
        b'{"a":[' + b'{"b":[]},' * 100_000,
    ],
    ids=["escaped quotes", "backslashes", "quotes", "digits", "signs", "brackets"],
)
def test_bytes_made_to_keep_the_sequencer_busy_are_refused_at_once(raw: bytes) -> None:
    started = time.perf_counter()
    assert check_json(raw) == NOT_JSON
    assert time.perf_counter() - started < 5  # a search that begins anew at each takes hours


def test_brackets_in_text_and_side_by_side_are_no_depth() -> None:
    assert check_json(in_field(orjson.dumps("[{" * 500 + '"[[\\' + "\\"))) is None
    assert check_json(in_field(b"[" + b",".join([b"[{}]"] * 500) + b"]")) is None


def test_of_a_repeated_key_the_last_counts() -> None:
    assert parse_strict(b'{"a":1,"b":2,"a":3}') == {"a": 3, "b": 2}


def test_white_space_around_and_escapes_of_every_kind_are_taken() -> None:
    raw = b' \t\r\n{ "a" : "\\u0000\\/\\b\\ud83d\\ude00\x7f" } \n'
    assert parse_strict(raw) == {"a": "\0/\b😀\x7f"}


def test_escape_forms_stay_as_they_are() -> None:
    assert parse_strict(b'{"a":{"$int":"1"}}') == {"a": {"$int": "1"}}


def test_the_reason_comes_with_the_error() -> None:
    with pytest.raises(FormError) as refused:
        parse_strict(b"[]")
    assert refused.value.reason == NO_OBJECT


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=5),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), json_values))
def test_what_the_codec_writes_of_a_dict_is_taken(value: dict[str, object]) -> None:
    raw = encode(value)
    assert check_json(raw) is None
    assert ascii(decode(raw)) == ascii(value)


@given(st.binary(max_size=30) | st.text('{}[]",:\\u0123d8eE.+- ', max_size=30).map(str.encode))
def test_what_is_taken_is_what_pythons_parser_takes_too(raw: bytes) -> None:
    if check_json(raw) is None:
        assert type(json.loads(raw)) is dict


def test_a_parser_that_takes_more_than_the_log_stops_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(orjson, "loads", json.loads)
    with pytest.raises(RuntimeError, match="NaN"):
        codec_form.check_parser()


def test_the_limit_of_depth_is_a_hundred() -> None:
    assert MAX_DEPTH == 100
