"""The append request: it comes back as it was sent, and whatever else is refused in fixed words."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentjournal.requests
from agentjournal.requests import (
    NewEvent,
    Request,
    RequestError,
    content_digest,
    decode_request,
)

printable = st.characters(codec="utf-8", exclude_categories=["Cc"])
text = st.text(printable, min_size=1, max_size=12) | st.just("x" * 8_192)
optional_text = st.none() | text
numbers = st.integers(0, 2**53)
small = st.integers(0, 2**31 - 1)
new_events = st.builds(
    NewEvent,
    id=text,
    type=text,
    data=st.binary(max_size=20) | st.just(b'{"a":\n1}\n'),
    schemaversion=small,
    time=optional_text,
    tokens=st.none() | small,
    correlationid=optional_text,
    causationid=optional_text,
    traceparent=optional_text,
)
requests = st.builds(
    Request,
    append_id=text,
    events=st.lists(new_events, min_size=1, max_size=4),
    source=text,
    attempt=numbers,
    expected_version=st.none() | numbers,
    fence=st.none() | numbers,
    reply_to=optional_text,
    agent=optional_text,
    worker=optional_text,
    start=st.none() | new_events,
    dataencoding=text,
)


@given(requests)
def test_a_request_comes_back_as_it_was_sent(request: Request) -> None:
    assert decode_request(request.encoded()) == request


@given(requests, numbers)
def test_only_the_attempt_differs_between_two_sendings(request: Request, attempt: int) -> None:
    again = decode_request(request.with_attempt(attempt).encoded())
    assert again.attempt == attempt
    assert again._replace(attempt=request.attempt) == request


def test_data_stand_behind_the_header_byte_for_byte() -> None:
    start = NewEvent("i0", "session.started", b'{"agent":"a"}')
    events = [NewEvent("i1", "t", b'{"a": 1}'), NewEvent("i2", "t", b'{ "b":2}')]
    value = Request("a", events, "/t/a", start=start).encoded()
    assert value.partition(b"\n")[2] == b'{"agent":"a"}{"a": 1}{ "b":2}'


NAMES = [
    *("format", "appendid", "attempt", "expectedversion", "fence", "replyto", "source"),
    *("agent", "worker", "dataencoding", "start", "events"),
]
EVENT_NAMES = [
    *("id", "type", "schemaversion", "size", "time", "tokens"),
    *("correlationid", "causationid", "traceparent"),
]


def header(**changes: Any) -> list[Any]:
    """Return a header by the names of its values; what is not named is null."""
    plain = {
        "format": 1,
        "appendid": "a",
        "attempt": 1,
        "source": "/t/a",
        "dataencoding": "json",
        "events": [event()],
    }
    return [{**plain, **changes}.get(name) for name in NAMES]


def event(**changes: Any) -> list[Any]:
    plain = {"id": "i", "type": "t", "schemaversion": 1, "size": 2}
    return [{**plain, **changes}.get(name) for name in EVENT_NAMES]


def one(**changes: Any) -> list[Any]:
    return [event(**changes)]


def refusal(value: bytes) -> tuple[str, str]:
    with pytest.raises(RequestError) as refused:
        decode_request(value)
    assert str(refused.value) == f"{refused.value.path}: {refused.value.reason}"
    return refused.value.path, refused.value.reason


def refused(written: Any, data: bytes = b"{}") -> tuple[str, str]:
    return refusal(orjson.dumps(written) + b"\n" + data)


def test_the_plain_header_is_taken() -> None:
    value = orjson.dumps(header()) + b"\n{}"
    assert decode_request(value) == Request("a", [NewEvent("i", "t", b"{}")], "/t/a")


@pytest.mark.parametrize("value", [b"", b"{}", b"\xff", orjson.dumps(header())])
def test_without_a_newline_there_is_no_header(value: bytes) -> None:
    assert refusal(value) == ("header", "no newline after the header")


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"[", b"nonsense", b"['format']", b"[NaN]", b"[] []"),
        *(b'["\xff"]', b'["\xed\xa0\x80"]', b'["\\ud800"]', b"\xef\xbb\xbf[]"),
    ],
)
def test_a_header_that_is_not_json_in_utf_8_is_refused(line: bytes) -> None:
    assert refusal(line + b"\n") == ("header", "is not JSON in UTF-8")


@pytest.mark.parametrize("line", [b"{}", b"1", b'"text"', b"null"])
def test_a_header_that_is_no_array_is_refused(line: bytes) -> None:
    assert refusal(line + b"\n") == ("header", "is not an array")


REQUIRED = ["appendid", "attempt", "dataencoding", "events", "format", "source"]


@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_field_is_named(name: str) -> None:
    assert refused(header(**{name: None})) == (f"header.{name}", "is missing")


@pytest.mark.parametrize("name", ["id", "schemaversion", "size", "type"])
def test_a_missing_field_of_an_event_is_named(name: str) -> None:
    events = [*one(), *one(**{name: None})]
    assert refused(header(events=events), b"{}{}") == (f"header.events[1].{name}", "is missing")


TEXTS = ["appendid", "replyto", "source", "agent", "worker", "dataencoding"]
EVENT_TEXTS = ["id", "type", "time", "correlationid", "causationid", "traceparent"]
NUMBERS = ["format", "attempt", "expectedversion", "fence"]
EVENT_NUMBERS = ["schemaversion", "size", "tokens"]
NO_TEXT: list[Any] = [True, 1, 1.5, ["a"], {"a": "b"}]
NO_NUMBER: list[Any] = [True, False, "1", 1.0, 1.5, [1], {}, 2**64]


@pytest.mark.parametrize("name", TEXTS)
def test_what_must_be_text_is_nothing_else(name: str) -> None:
    for value in NO_TEXT:
        assert refused(header(**{name: value})) == (f"header.{name}", "is not text")


@pytest.mark.parametrize("name", EVENT_TEXTS)
def test_what_must_be_text_in_an_event_is_nothing_else(name: str) -> None:
    for value in NO_TEXT:
        found = refused(header(events=one(**{name: value})))
        assert found == (f"header.events[0].{name}", "is not text")


def number_beyond(written: list[Any]) -> bytes:
    return orjson.dumps(written).replace(b'"2**64"', b"18446744073709551616")


@pytest.mark.parametrize("name", NUMBERS)
def test_what_must_be_a_whole_number_is_nothing_else(name: str) -> None:
    for value in NO_NUMBER:
        line = number_beyond(header(**{name: "2**64" if value == 2**64 else value}))
        assert refusal(line + b"\n{}") == (f"header.{name}", "is not a whole number")


@pytest.mark.parametrize("name", EVENT_NUMBERS)
def test_what_must_be_a_whole_number_in_an_event_is_nothing_else(name: str) -> None:
    for value in NO_NUMBER:
        line = number_beyond(header(events=one(**{name: "2**64" if value == 2**64 else value})))
        assert refusal(line + b"\n{}") == (f"header.events[0].{name}", "is not a whole number")


@pytest.mark.parametrize("value", [-1, 2**53 + 1, 2**63 - 1])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_between_0_and_2_to_the_53(name: str, value: int) -> None:
    assert refused(header(**{name: value})) == (f"header.{name}", "is not between 0 and 2**53")


@pytest.mark.parametrize("value", [-1, 2**31, 2**53])
@pytest.mark.parametrize("name", EVENT_NUMBERS)
def test_a_number_of_an_event_has_31_bits_as_cloudevents_has_them(name: str, value: int) -> None:
    found = refused(header(events=one(**{name: value})))
    assert found == (f"header.events[0].{name}", "is not between 0 and 2**31 - 1")


@pytest.mark.parametrize("value", ["", "x" * 8_193])
def test_text_has_1_to_8192_characters(value: str) -> None:
    rule = "must have 1 to 8192 characters"
    for name in TEXTS:
        assert refused(header(**{name: value})) == (f"header.{name}", rule)
    for name in EVENT_TEXTS:
        found = refused(header(events=one(**{name: value})))
        assert found == (f"header.events[0].{name}", rule)


@pytest.mark.parametrize("code", [0, 1, 10, 31, 127, 128, 0x85, 159])
def test_text_holds_no_control_characters(code: int) -> None:
    value, rule = f"a{chr(code)}", "holds control characters"
    for name in TEXTS:
        assert refused(header(**{name: value})) == (f"header.{name}", rule)
    for name in EVENT_TEXTS:
        found = refused(header(events=one(**{name: value})))
        assert found == (f"header.events[0].{name}", rule)


@pytest.mark.parametrize("change", [1, -1])
def test_a_value_too_many_or_too_few_is_refused_wherever_it_stands(change: int) -> None:
    def wrong(values: list[Any]) -> list[Any]:
        return [*values, "x"] if change > 0 else values[:-1]

    assert refused(wrong(header())) == ("header", "does not have 12 values")
    place = ("header.events[0]", "does not have 9 values")
    assert refused(header(events=[wrong(event())])) == place
    place = ("header.start", "does not have 9 values")
    assert refused(header(start=wrong(event()))) == place


@pytest.mark.parametrize("number", [0, 2])
def test_another_format_is_refused(number: int) -> None:
    assert refused(header(format=number)) == ("header.format", "is not 1")


@pytest.mark.parametrize("events", [{}, "a", 1])
def test_events_are_an_array(events: Any) -> None:
    assert refused(header(events=events)) == ("header.events", "is not an array")


@pytest.mark.parametrize("wrong", [{}, "a", 1])
def test_an_event_is_an_array(wrong: Any) -> None:
    assert refused(header(events=[wrong])) == ("header.events[0]", "is not an array")
    assert refused(header(start=wrong)) == ("header.start", "is not an array")


def test_a_request_has_1_to_1000_events() -> None:
    assert refused(header(events=[])) == ("header.events", "is empty")
    found = refused(header(events=one() * 1_001), b"{}" * 1_001)
    assert found == ("header.events", "has more than 1000 events")
    value = orjson.dumps(header(events=one() * 1_000)) + b"\n" + b"{}" * 1_000
    assert len(decode_request(value).events) == 1_000


def test_sizes_add_up_to_the_bytes_that_follow() -> None:
    rule = ("header.events", "sizes do not add up to the bytes that follow")
    beyond = "goes beyond the end of the record"
    assert refused(header(), b"{} ") == rule
    assert refused(header(), b"{}\n") == rule
    assert refused(header(), b"{") == ("header.events[0].size", beyond)
    assert refused(header(events=one() * 2), b"{}{") == ("header.events[1].size", beyond)
    assert refused(header(start=one(size=3)[0]), b"{}") == ("header.start.size", beyond)
    assert refused(header(start=one()[0]), b"{}") == ("header.events[0].size", beyond)


@given(st.binary(max_size=60) | requests.map(lambda r: r.encoded()), st.data())
def test_any_bytes_are_a_request_or_refused(value: bytes, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(value)))
    changed = value[:cut] + data.draw(st.binary(max_size=2)) + value[cut + 1 :]
    with suppress(RequestError):
        decode_request(changed)


values = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([2**31, 2**53, 2**53 + 1, 1.0, "", "a", 'a"', "\\", "\x7f", "é", "x" * 8_193])
    | st.sampled_from([[], {}, ["a"]])
)


@given(st.data(), st.integers(0, len(NAMES) - 1), st.integers(0, len(EVENT_NAMES) - 1))
def test_what_is_seen_at_a_glance_is_what_a_look_at_each_value_finds(
    data: st.DataObject, at: int, event_at: int
) -> None:
    changed, changed_event = header(), event()
    changed[at] = data.draw(st.sampled_from([changed[at], data.draw(values)]))
    changed_event[event_at] = data.draw(values)
    if at != len(NAMES) - 1:
        changed[-1] = [changed_event]
    value = orjson.dumps(changed) + b"\n{}"

    def never(_line: bytes) -> bool:
        return False

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(agentjournal.requests, "_is_plain", never)
        slow = _outcome(value)
    assert _outcome(value) == slow


def _outcome(value: bytes) -> Request | tuple[str, str]:
    try:
        return decode_request(value)
    except RequestError as error:
        return error.path, error.reason


def digest(*events: NewEvent) -> bytes:
    return content_digest(events)


def test_the_content_is_type_schema_version_and_data() -> None:
    plain = NewEvent("i", "t", b"{}", 1)
    assert len(digest(plain)) == 8
    again = NewEvent("j", "t", b"{}", 1, "2026-01-31T12:00:00Z", 7, "c", "d", "p")
    assert digest(again) == digest(plain)
    others = [plain._replace(type="u"), plain._replace(schemaversion=2), plain._replace(data=b"[]")]
    assert len({digest(plain), digest(plain, plain), digest(), *map(digest, others)}) == 6


def test_content_is_told_apart_wherever_it_is_cut() -> None:
    def two(first: bytes, second: bytes) -> bytes:
        return digest(NewEvent("i", "t", first), NewEvent("j", "t", second))

    assert len({two(b"ab", b""), two(b"a", b"b"), two(b"", b"ab")}) == 3
