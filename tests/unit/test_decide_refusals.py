"""Refused appends: in the order that the rules fix, with a place and a reason in fixed words."""

from __future__ import annotations

import orjson
import pytest

from agentjournal.ids import Partition, StreamId, stream_id
from agentjournal.receipts import Refusal
from agentjournal.requests import NewEvent, Request
from streams.decide import decide
from streams.head import EMPTY, Head
from tests.support import RULES, Stream, event, given, place_of, request, said, started

MIB = 1_024 * 1_024


def rejected(path: str, text: str) -> Refusal:
    return Refusal("rejected", path, text)


def dead(stream: Stream, asked: Request | bytes | None) -> Refusal:
    """Return the refusal of a request that goes to the dead letters."""
    before = stream.head
    outcome = stream.ask(asked)
    assert outcome.dead is not None
    assert (outcome.records, outcome.head) == ((), before)
    if outcome.answer is not None:
        assert outcome.answer.outcome == outcome.dead
    return outcome.dead


def raw(data: bytes, event_type: str = "custom.x") -> NewEvent:
    return NewEvent("i", event_type, data)


@pytest.mark.parametrize(
    "key",
    [None, b"", b"\xff", b"s-1", b"session/t", b"other/t/s", b"session/t/%61", b"session//s"],
)
def test_a_key_that_is_no_stream_is_refused_in_every_partition(key: bytes | None) -> None:
    asked = given(Stream().stream, request(said("a")))._replace(key=key)
    for partition in range(RULES.partitions):
        outcome = decide(RULES, Partition(partition), asked, None)
        assert outcome.dead == rejected("key", "is not a stream id")
        assert (outcome.stream, outcome.answer, outcome.records) == (None, None, ())


def test_a_request_in_another_partition_is_refused() -> None:
    stream = Stream()
    for partition in set(range(RULES.partitions)) - {stream.partition}:
        asked = given(stream.stream, request(said("a")))
        outcome = decide(RULES, Partition(partition), asked, EMPTY)
        assert outcome.dead == rejected("partition", "is not the one of this stream")


def test_a_record_without_a_value_is_refused() -> None:
    assert dead(Stream(), None) == rejected("request", "has no value")


@pytest.mark.parametrize("value", [b"", b"rubbish", b"\x00\xff", b"{}\n", b"null\n"])
def test_what_is_no_request_is_refused_and_nobody_is_answered(value: bytes) -> None:
    stream = Stream()
    assert dead(stream, value).reason == "rejected"
    assert stream.ask(value).answer is None


def sized(total: int) -> bytes:
    """Return a request of exactly `total` bytes."""
    length = total
    while True:
        value = request(event("custom.x", text="x" * length), append_id="a").encoded()
        if len(value) == total:
            return value
        length += total - len(value)


def test_a_request_has_at_most_900_000_bytes() -> None:
    assert len(sized(900_000)) == 900_000
    assert Stream().ask(sized(900_000)).dead is None
    too_large = rejected("request", "is larger than 900000 bytes")
    assert dead(Stream(), sized(900_001)) == too_large
    assert dead(Stream(), b"x" * MIB) == too_large


def test_records_that_would_not_fit_are_refused_together() -> None:
    long = dict.fromkeys(("agent", "worker", "source"), "x" * 900)
    events = [event("custom.x") for _ in range(1_000)]
    assert len(request(*events, **long).encoded()) < 200_000
    assert dead(Stream(), request(*events, **long)) == rejected(
        "request", "its records are larger than 1900000 bytes together"
    )
    assert Stream().accept(request(*events)).last_version == 1_000


def test_the_records_of_any_accepted_request_fit_into_a_batch_of_the_broker() -> None:
    events = [event("custom.x") for _ in range(1_000)]
    stream = Stream()
    longest = 0
    for size in range(0, 1_200, 100):
        outcome = Stream(stream.stream).ask(request(*events, agent="x" * max(1, size)))
        total = sum(len(record) + len(stream.stream) + 100 for record in outcome.records)
        longest = max(longest, total)
    assert 1_700_000 < longest <= 1_900_000


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is not JSON as RFC 8259 defines it"),
        (b"{", "is not JSON as RFC 8259 defines it"),
        (b'{"a":NaN}', "is not JSON as RFC 8259 defines it"),
        (b"{'a':1}", "is not JSON as RFC 8259 defines it"),
        (b'{"a":"\\ud800"}', "is not JSON as RFC 8259 defines it"),
        (b'{"a":"\xff"}', "is not UTF-8"),
        (b'{"a":"\xed\xa0\x80"}', "is not UTF-8"),
        (b'{"a":"\xc0\x80"}', "is not UTF-8"),
        (b"[]", "is not an object"),
        (b'"text"', "is not an object"),
        (b'{"a":1e400}', "holds a number beyond the range of a double"),
        (b'{"a":' + b"[" * 100 + b"]" * 100 + b"}", "is nested deeper than 100"),
        (b"[" * 5_000, "is nested deeper than 100"),
    ],
)
def test_data_that_are_not_strict_json_are_refused(data: bytes, reason: str) -> None:
    found = dead(Stream(), request(raw(b"{}"), raw(data)))
    assert found == rejected("events[1].data", reason)


def test_data_may_be_nested_100_deep() -> None:
    deepest = b'{"a":' + b"[" * 99 + b"]" * 99 + b"}"
    assert Stream().ask(request(raw(deepest))).dead is None


def test_the_same_form_is_asked_of_the_start() -> None:
    bad = started()._replace(data=b'{"agent":1}')
    found = dead(Stream(), request(said("a"), start=bad))
    assert (found.reason, found.path) == ("rejected", "start.data.agent")
    assert dead(Stream(), request(said("a"), start=said("b"))) == rejected(
        "start.type", "is not session.started"
    )


def test_a_field_that_the_type_asks_for_is_named_with_its_place() -> None:
    assert dead(Stream(), request(said("a"), event("note.set", key="k"))) == rejected(
        "events[1].data.value", "is missing"
    )


@pytest.mark.parametrize("event_type", ["message.edited", "custom.", "customx", "x", "Custom.x"])
def test_a_type_that_the_rules_do_not_know_is_refused(event_type: str) -> None:
    found = dead(Stream(), request(raw(b"{}", event_type)))
    assert found.path in {"events[0].data", "events[0].type"}


def test_a_schema_version_that_the_rules_do_not_know_is_refused() -> None:
    found = dead(Stream(), request(said("a")._replace(schemaversion=2)))
    assert found == rejected("events[0].data", "version 2 of message.added is not in rules 1")


@pytest.mark.parametrize("kind", ["task", "user", "account", "project"])
def test_only_sessions_take_messages(kind: str) -> None:
    stream = Stream(stream_id(kind, "default", "x"))
    assert dead(stream, request(said("a"))) == rejected(
        "events[0].type", f"message.added does not belong to a {kind} stream"
    )
    assert dead(stream, request(event("custom.x"), start=started())) == rejected(
        "start.type", f"session.started does not belong to a {kind} stream"
    )


def test_other_encodings_wait_for_later_rules() -> None:
    assert dead(Stream(), request(said("a"), dataencoding="json+aes256gcm")) == rejected(
        "dataencoding", "rules 1 know json only"
    )


def test_a_deleted_stream_refuses_everything_for_ever() -> None:
    stream = Stream()
    stream.accept(request(said("a"), start=started("u-7")))
    stream.accept(request(event("session.deleted", reason="asked for"), said("last")))
    for asked in (
        request(said("b")),
        request(said("b"), expected_version=4),
        request(said("b"), expected_version=0),
        request(said("b"), start=started("u-8")),
        request(event("session.resumed")),
        request(started()),
    ):
        assert dead(stream, asked) == Refusal("deleted")


def test_another_user_is_refused() -> None:
    stream = Stream()
    stream.accept(request(said("a"), start=started("u-7")))
    assert dead(stream, request(said("b"), start=started("u-8"))) == Refusal("mismatch")
    assert stream.accept(request(said("b"), start=started("u-7"))).first_version == 3
    assert stream.accept(request(said("c"), start=started())).first_version == 4
    assert stream.accept(request(said("d"))).first_version == 5


def test_a_session_of_nobody_takes_anybody() -> None:
    stream = Stream()
    stream.accept(request(said("a"), start=started()))
    assert stream.accept(request(said("b"), start=started("u-8"))).first_version == 3


def session_elsewhere() -> StreamId:
    mine = Stream().partition
    names = (stream_id("session", "default", f"s-{n}") for n in range(100))
    return next(stream for stream in names if place_of(stream) != mine)


def test_checks_are_made_in_the_order_that_the_rules_fix() -> None:
    """Each request has all the faults of those below it, and is refused for its own first one."""
    stream = Stream()
    accepted = request(said("a"), start=started("u-7"))
    stream.accept(accepted)
    stream.accept(request(event("session.deleted", reason="asked for")))
    deleted, alive = stream.head, Stream()
    alive.accept(accepted)

    def first_fault(
        asked: bytes | Request, head: Head | None, key: StreamId = stream.stream
    ) -> str:
        outcome = decide(RULES, stream.partition, given(key, asked, 9), head)
        refusal = outcome.answer.outcome if outcome.answer is not None else outcome.dead
        assert isinstance(refusal, Refusal)
        return refusal.path or refusal.reason

    bad_form = accepted._replace(events=[raw(b"{")], expected_version=7, start=started("u-8"))
    reused = bad_form._replace(events=[said("other")])
    fresh_id = reused._replace(append_id="another")
    assert first_fault(b"x" * MIB, deleted, session_elsewhere()) == "partition"
    assert first_fault(b"x" * MIB, deleted) == "request"
    assert first_fault(orjson.dumps({"format": 9}) + b"\n", deleted) == "header"
    assert first_fault(bad_form, deleted) == "events[0].data"
    assert first_fault(reused, deleted) == "id_reused"
    assert first_fault(fresh_id, deleted) == "deleted"
    assert first_fault(fresh_id, alive.head) == "mismatch"
    assert first_fault(fresh_id._replace(start=None), alive.head) == "conflict"
    begun_again = fresh_id._replace(start=None, events=[started()])
    assert first_fault(begun_again, alive.head) == "conflict"
    assert first_fault(begun_again._replace(expected_version=2), alive.head) == "events[0].type"
