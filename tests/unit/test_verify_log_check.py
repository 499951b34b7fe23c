"""Checking a partition of the log: everything that can be wrong with it is told, with its place."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pytest

from agentjournal.envelope import parse_record
from agentjournal.ids import Milliseconds, Partition, Position, StreamId
from commands import log_check
from commands.kafka_topic import TopicRecord
from commands.log_check import PartitionCheck, Problem
from tests.support import Stream, request, said, session_in, started

PARTITION = 3
ONE, TWO = session_in(PARTITION, 0), session_in(PARTITION, 1)


@dataclass
class Checked:
    check: PartitionCheck
    problems: list[Problem]

    @property
    def told(self) -> list[tuple[str, int, int, str]]:
        return [(p.stream, p.version, p.position, p.text) for p in self.problems]


def records_of(*streams: Stream) -> list[TopicRecord]:
    return [as_record(stream.stream, value, 0) for stream in streams for value in stream.records]


def as_record(stream: StreamId, value: bytes, position: int) -> TopicRecord:
    key = stream.encode()
    return TopicRecord(Partition(PARTITION), Position(position), Milliseconds(0), key, value, {})


def checked(records: Iterable[TopicRecord], *, start: int = 0, projected: int = 1_000) -> Checked:
    """Check records that stand one after the other from `start` on."""
    check = PartitionCheck(Partition(PARTITION), Position(start), Position(projected))
    placed = [record._replace(position=Position(start + at)) for at, record in enumerate(records)]
    problems = [problem for record in placed for problem in check.add(record)]
    if check.must_settle:
        problems += [problem for record in placed for problem in check.settle(record)]
        problems += check.unsettled()
    return Checked(check, problems)


@pytest.fixture
def log() -> list[TopicRecord]:
    """Two streams: versions 1 and 2 in one batch and 3, then 1 to 3 in one batch."""
    one, two = Stream(ONE), Stream(TWO)
    one.accept(request(said("a"), start=started()))
    one.accept(request(said("b")))
    two.position = 2
    two.accept(request(said("c"), said("d"), start=started()))
    return records_of(one, two)


def test_a_whole_log_has_no_problem(log: list[TopicRecord]) -> None:
    found = checked(log)
    assert found.problems == []
    assert (found.check.events, found.check.repeats, found.check.behind) == (6, 0, 0)
    expected = found.check.expected()
    assert {stream: (of.versions, of.rows) for stream, of in expected.items()} == {
        ONE: ((1, 3), 3),
        TWO: ((1, 3), 3),
    }


def test_events_beyond_the_projection_are_behind_and_not_expected(log: list[TopicRecord]) -> None:
    found = checked(log, projected=4)
    assert found.problems == []
    assert found.check.behind == 2
    assert {s: of.rows for s, of in found.check.expected().items()} == {ONE: 3, TWO: 1}


def test_equal_rows_have_equal_digests_and_other_rows_others(log: list[TopicRecord]) -> None:
    first = checked(log).check.expected()
    assert first == checked(log).check.expected()
    assert first[ONE].digest != checked(log, projected=2).check.expected()[ONE].digest
    assert first[ONE].digest != checked(log, start=1).check.expected()[ONE].digest  # positions


def test_repeats_that_are_the_same_bytes_are_no_problem(log: list[TopicRecord]) -> None:
    found = checked([*log[:3], *log[:3], *log[3:], *log])
    assert found.problems == []
    assert (found.check.events, found.check.repeats) == (6, 9)
    assert found.check.expected()[ONE].rows == 3


def rewritten(record: TopicRecord, old: bytes, new: bytes) -> TopicRecord:
    """Return a record with other bytes and the hash that they have."""
    covered = record.value.replace(old, new).rpartition(b',"hash":"')[0]
    digest = hashlib.sha256(covered).hexdigest().encode()
    return record._replace(value=covered + b',"hash":"' + digest + b'"}')


@pytest.mark.parametrize("recent", [10_000, 1])
def test_a_repeat_with_other_bytes_is_told_however_long_ago_the_first_was(
    log: list[TopicRecord], monkeypatch: pytest.MonkeyPatch, recent: int
) -> None:
    monkeypatch.setattr(log_check, "_RECENT", recent)
    other = rewritten(log[1], b'"text":"a"', b'"text":"x"')
    found = checked([*log, log[0], other, log[2]])
    assert found.told == [(ONE, 2, 7, "it comes again with other bytes")]


@pytest.mark.parametrize("recent", [10_000, 1])
def test_a_record_of_an_earlier_request_that_was_not_there_is_too_late(
    log: list[TopicRecord], monkeypatch: pytest.MonkeyPatch, recent: int
) -> None:
    monkeypatch.setattr(log_check, "_RECENT", recent)
    found = checked([*log[:2], *log[3:], log[2]])
    assert found.told == [(ONE, 3, 5, "it comes after records of later requests")]


def test_bytes_that_are_not_those_of_the_hash_are_told_once(log: list[TopicRecord]) -> None:
    broken = log[1]._replace(value=log[1].value.replace(b'"text":"a"', b'"text":"x"'))
    found = checked([log[0], broken, *log[2:]])
    assert found.told == [(ONE, 2, 1, "the hash is not that of the record's bytes")]


@pytest.mark.parametrize("value", [b"", b"{}", b"junk", b'{"subject":"x","data":1}'])
def test_a_record_that_is_none_of_ours_is_told(log: list[TopicRecord], value: bytes) -> None:
    found = checked([*log, as_record(ONE, value, 0)])
    assert found.told == [(ONE, 0, 6, "not a record of ours")]


def test_a_missing_version_is_told() -> None:
    one = Stream(ONE)
    for text in ("a", "b", "c"):
        one.accept(request(said(text)))
    first, _, third = records_of(one)
    assert checked([first, third]).told == [(ONE, 3, 1, "it follows version 1")]
    assert checked([third]).told == [(ONE, 3, 0, "it follows version 0")]


def test_a_second_event_for_a_version_is_told() -> None:
    one, fork = Stream(ONE), Stream(ONE)
    for stream, text in ((one, "a"), (fork, "b")):
        stream.accept(request(said("same", message_id="m"), append_id="first"))
        stream.position += text == "b"
        stream.accept(request(said(text)))
    found = checked([*records_of(one), records_of(fork)[1]])
    assert found.told == [(ONE, 2, 2, "it follows version 2")]


def test_a_broken_chain_is_told(log: list[TopicRecord]) -> None:
    prevhash = parse_record(log[2].value).prevhash.encode()
    other = rewritten(log[2], prevhash, b"0" * 64)
    found = checked([*log[:2], other, *log[3:]])
    assert found.told == [(ONE, 3, 2, "it is not chained to version 2 before it")]


def test_a_batch_that_is_not_whole_is_told(log: list[TopicRecord]) -> None:
    found = checked([log[3], *records_from_later_request()])
    assert found.told[0] == (TWO, 1, 0, "its batch ends here, with 1 of 3 events")
    found = checked([*log[:3], *log[4:]])
    assert found.told[0] == (TWO, 2, 3, "the 1 events before it are missing")


def records_from_later_request() -> Sequence[TopicRecord]:
    one = Stream(ONE)
    one.position = 10
    one.accept(request(said("later")))
    return records_of(one)


def test_a_batch_cut_at_the_end_is_unfinished_and_no_problem(log: list[TopicRecord]) -> None:
    found = checked(log[:5])
    assert found.problems == []
    assert found.check.is_unfinished
    assert not checked(log).check.is_unfinished


def test_a_record_under_another_key_or_in_another_partition_is_told() -> None:
    elsewhere = Stream(session_in(PARTITION + 1))
    elsewhere.accept(request(said("a")))
    (record,) = records_of(elsewhere)
    assert [p.text for p in checked([record]).problems] == [
        "the stream belongs into another partition"
    ]
    under_another_key = record._replace(key=ONE.encode())
    assert "the record's key is another stream" in [
        p.text for p in checked([under_another_key]).problems
    ]


def test_a_log_that_was_trimmed_is_checked_from_its_start(log: list[TopicRecord]) -> None:
    found = checked(log[1:], start=1)
    assert found.problems == []
    assert found.check.expected()[ONE].versions == (2, 3)
