"""The canonical record: a CloudEvent that holds the writer's exact bytes, sealed by its hash."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.envelope import NO_HASH, build_record, iso_time, parse_record, record_order
from agentjournal.errors import IntegrityError
from agentjournal.ids import Milliseconds, Partition, Position
from tests.support import Stream, request, said, started

ATTRIBUTES: dict[str, Any] = {
    "specversion": "1.0",
    "id": "i",
    "source": "/t/a",
    "type": "custom.x",
    "subject": "session/t/s",
    "datacontenttype": "application/json",
    "schemaversion": 1,
    "dataencoding": "json",
    "version": "7",
    "index": 0,
    "appendid": "a",
    "size": 1,
    "inputposition": "12",
    "recordedat": "2026-01-31T12:00:00.123Z",
    "rules": 1,
}
TRAPS = ['","data":', '","prevhash":"', '","hash":"', '"}', "\\", '\\"', ',"data":{}']
PREVHASH = "ab" * 32

text = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(TRAPS)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(text, inside, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(text, json_values, max_size=3)


def built(data: bytes, **attributes: Any) -> bytes:
    return build_record({**ATTRIBUTES, **attributes}, data, PREVHASH)[0]


def recorded_stream() -> Stream:
    stream = Stream()
    stream.accept(request(said("one"), said("two"), start=started("u"), worker="w", agent="a"))
    full = said("three")._replace(
        time="2026-01-31T12:00:00.001Z",
        tokens=3,
        correlationid="c",
        causationid="d",
        traceparent="00-1-2-03",
    )
    stream.accept(request(full))
    return stream


RECORD = recorded_stream().records[-1]


def test_a_record_is_written_in_this_order_and_sealed_over_its_prefix() -> None:
    record, digest = build_record({"specversion": "1.0", "id": "i"}, b'{"a": 1}', PREVHASH)
    prefix = b'{"specversion":"1.0","id":"i","data":{"a": 1},"prevhash":"%b"' % PREVHASH.encode()
    assert digest == hashlib.sha256(prefix).hexdigest()
    assert record == prefix + b',"hash":"%b"}' % digest.encode()


@given(objects, text.filter(bool), text.filter(bool))
def test_a_record_gives_back_what_was_built_into_it(
    value: dict[str, Any], agent: str, worker: str
) -> None:
    data = orjson.dumps(value)
    record = built(data, agent=agent, worker=worker)
    found = parse_record(record, Partition(3), Position(9))
    assert found.raw_data == data
    assert (found.agent, found.worker, found.prevhash) == (agent, worker, PREVHASH)
    assert (found.version, found.input_position, found.order) == (7, 12, (12, 0))
    assert (found.partition, found.position, found.start) == (3, 9, False)
    assert (found.recorded_at, found.append_id) == ("2026-01-31T12:00:00.123Z", "a")
    parsed = json.loads(record)
    assert parsed["data"] == value
    assert (parsed["agent"], parsed["hash"]) == (agent, found.hash)


@pytest.mark.parametrize("trap", TRAPS)
def test_data_that_look_like_the_envelope_stay_data(trap: str) -> None:
    data = orjson.dumps({"data": {"hash": trap, trap: trap}, "x,": [trap]})
    assert parse_record(built(data, agent=trap)).raw_data == data


def test_data_keep_their_spaces_their_order_and_their_repeats() -> None:
    data = b'{ "b" : 1.0 ,"a":1e2, "b":\t"\\u00e9" }'
    assert parse_record(built(data)).raw_data == data


@given(st.data())
def test_a_flipped_bit_anywhere_is_noticed(data: st.DataObject) -> None:
    record = bytearray(RECORD)
    at = data.draw(st.integers(0, len(record) - 1))
    record[at] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(IntegrityError):
        parse_record(bytes(record))


def test_any_other_byte_at_any_place_is_noticed() -> None:
    for at in range(len(RECORD)):
        changed = RECORD[:at] + bytes([RECORD[at] ^ 0x15]) + RECORD[at + 1 :]
        with pytest.raises(IntegrityError):
            parse_record(changed)


@given(st.data())
def test_a_record_that_was_cut_or_grew_is_noticed(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(RECORD)))
    more = data.draw(st.binary(max_size=3))
    changed = RECORD[:at] + more + RECORD[at + data.draw(st.integers(0, 3)) :]
    if changed != RECORD:
        with pytest.raises(IntegrityError):
            parse_record(changed)


@pytest.mark.parametrize(
    "record", [b"", b"{}", b"[]", b"null", b"no json", b'{"data":1}', b'{"id":"i","data":{}}']
)
def test_what_is_no_record_of_ours_is_said_to_be_none(record: bytes) -> None:
    with pytest.raises(IntegrityError, match="partition 3, position 9: not a record of ours"):
        parse_record(record, Partition(3), Position(9))


@pytest.mark.parametrize("name", sorted(set(ATTRIBUTES) - {"specversion", "datacontenttype"}))
def test_a_sealed_record_without_one_of_our_attributes_is_none_of_ours(name: str) -> None:
    lacking = {key: value for key, value in ATTRIBUTES.items() if key != name}
    with pytest.raises(IntegrityError, match="not a record of ours"):
        parse_record(build_record(lacking, b"{}", PREVHASH)[0])


@pytest.mark.parametrize("value", [None, [], {}, "x", "1.5"])
@pytest.mark.parametrize("name", ["version", "inputposition"])
def test_a_sealed_record_with_a_version_that_is_none_is_none_of_ours(name: str, value: Any) -> None:
    with pytest.raises(IntegrityError, match="not a record of ours"):
        parse_record(built(b"{}", **{name: value}))


def test_the_order_of_decisions_is_read_without_verifying() -> None:
    record = built(b'{"data":1}', inputposition="9007199254740993", index=17)
    assert record_order(record) == (9_007_199_254_740_993, 17)
    assert record_order(record[:-1] + b"x") == (9_007_199_254_740_993, 17)


# CloudEvents 1.0, "Context Attributes", and its JSON format, "Structured-Mode".
TYPES_OF_ATTRIBUTES: dict[str, type] = {
    **dict.fromkeys(["specversion", "id", "source", "type", "subject", "time"], str),
    **dict.fromkeys(["datacontenttype", "dataencoding", "version", "appendid"], str),
    **dict.fromkeys(["inputposition", "recordedat", "agent", "worker"], str),
    **dict.fromkeys(["correlationid", "causationid", "traceparent", "prevhash", "hash"], str),
    **dict.fromkeys(["schemaversion", "index", "size", "rules", "tokens"], int),
    "start": bool,
    "data": dict,
}


def test_every_record_is_a_cloudevent_in_structured_mode() -> None:
    seen: set[str] = set()
    for record in recorded_stream().records:
        event = json.loads(record)
        seen |= set(event)
        assert event["specversion"] == "1.0"
        assert event["datacontenttype"] == "application/json"
        for name, value in event.items():
            assert re.fullmatch("[a-z0-9]{1,20}", name)
            assert type(value) is TYPES_OF_ATTRIBUTES[name]
            if type(value) is int:
                assert -(2**31) <= value < 2**31
            if type(value) is str:
                assert value
                assert not re.search("[\x00-\x1f\x7f-\x9f\ud800-\udfff]", value)
        for name in {"time", "recordedat"} & set(event):
            assert datetime.fromisoformat(event[name]).utcoffset() is not None
    assert seen == set(TYPES_OF_ATTRIBUTES)


def test_the_hash_comes_last_and_everything_before_it_is_covered() -> None:
    previous = NO_HASH
    for record in recorded_stream().records:
        covered, _, digest = record.rpartition(b',"hash":"')
        assert digest == hashlib.sha256(covered).hexdigest().encode() + b'"}'
        assert covered.endswith(b',"prevhash":"%b"' % previous.encode())
        previous = digest[:64].decode()


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_769_860_800_123, "2026-01-31T12:00:00.123Z"),
        (951_782_399_999, "2000-02-28T23:59:59.999Z"),
        (951_868_800_001, "2000-03-01T00:00:00.001Z"),
        (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_times_are_in_utc_to_the_millisecond(ms: int, text: str) -> None:
    assert iso_time(Milliseconds(ms)) == text


def test_a_first_event_follows_no_hash() -> None:
    assert NO_HASH == "0" * 64
    assert recorded_stream().recorded[0].prevhash == NO_HASH
