"""A partition's fold: the same bytes however it is cut, stopped and taken up again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentjournal.envelope import parse_record
from agentjournal.errors import IntegrityError
from agentjournal.ids import Milliseconds, Partition, Position, StreamId
from agentjournal.receipts import Receipt
from streams.decide import Input
from streams.head import Head
from streams.partition_fold import (
    PartitionFold,
    Step,
    Stored,
    first_occurrences,
    input_digest,
    record_digest,
)
from tests.support import RULES, request, said, stored
from tests.support import given as given_input
from tests.unit.fold_strategies import EXAMPLES, PARTITION, STREAMS, cuts, inputs, no_heads


def new_fold(next_input: int = 0, tail: Sequence[Stored] = ()) -> PartitionFold:
    return PartitionFold(RULES, Partition(PARTITION), Position(next_input), tail)


def folded(batches: Sequence[Sequence[Input]], fold: PartitionFold | None = None) -> list[Step]:
    fold = fold or new_fold()
    steps: list[Step] = []
    for batch in batches:
        fold.put(no_heads(fold.missing(batch)))
        steps.append(fold.step(batch))
    return steps


def records(steps: Sequence[Step]) -> list[tuple[bytes, bytes]]:
    return [record for step in steps for record in step.records]


def everything(steps: Sequence[Step]) -> tuple[object, ...]:
    """Return all that steps ask for, however it was cut."""
    heads: dict[StreamId, Head] = {}
    for step in steps:
        heads |= step.heads
    return (
        records(steps),
        [dead for step in steps for dead in step.dead],
        [answer for step in steps for answer in step.answers],
        heads,
        [step.next_input for step in steps if step.input_digest][-1:],
    )


def appends(*texts: str, first: int = 0) -> list[Input]:
    return [
        given_input(STREAMS[0], request(said(text), said(f"{text}!")), position)
        for position, text in enumerate(texts, first)
    ]


@settings(max_examples=EXAMPLES)
@given(st.data())
def test_folded_again_in_other_batches_it_gives_the_same_bytes(data: st.DataObject) -> None:
    given = data.draw(inputs())
    batches = data.draw(cuts(given))
    assert everything(folded(batches)) == everything(folded([given]))


@settings(max_examples=EXAMPLES)
@given(st.data())
def test_heads_may_be_saved_evicted_and_loaded_at_any_time(data: st.DataObject) -> None:
    given = data.draw(inputs())
    saved: dict[StreamId, Head] = {}
    fold, steps = new_fold(), list[Step]()
    for batch in data.draw(cuts(given)):
        fold.put({stream: saved.get(stream) for stream in fold.missing(batch)})
        steps.append(fold.step(batch))
        saved |= steps[-1].heads
        fold.forget(data.draw(st.sets(st.sampled_from(STREAMS))))
    assert everything(steps) == everything(folded([given]))


@settings(max_examples=EXAMPLES)
@given(inputs())
def test_every_stream_is_numbered_and_chained_and_every_receipt_is_true(given: list[Input]) -> None:
    [step] = folded([given])
    streams: defaultdict[str, list[tuple[int, str, str]]] = defaultdict(list)
    appended: dict[tuple[str, int], str] = {}
    for key, record in step.records:
        event = parse_record(record, Partition(PARTITION))
        assert key == event.stream.encode()
        streams[event.stream].append((event.version, event.prevhash, event.hash))
        appended[event.stream, event.version] = event.append_id
    for events in streams.values():
        assert [version for version, _, _ in events] == list(range(1, len(events) + 1))
        assert events[0][1] == "0" * 64
        assert all(after[1] == before[2] for before, after in pairwise(events))
    for _, answer in step.answers:
        if isinstance(receipt := answer.outcome, Receipt):
            versions = range(receipt.first_version, receipt.last_version + 1)
            assert {appended[receipt.stream, v] for v in versions} == {receipt.append_id}
    for stream, head in step.heads.items():
        assert (head.version, head.hash) == (streams[stream][-1][0], streams[stream][-1][2])


@settings(max_examples=EXAMPLES)
@given(st.data())
def test_taken_up_at_any_place_it_emits_exactly_what_the_log_lacks(data: st.DataObject) -> None:
    """A sequencer died: it had saved some heads, and written more records than it knew of."""
    given = data.draw(inputs())
    saved_at = data.draw(st.integers(0, len(given)))
    first = new_fold(0)
    before = folded([given[:saved_at]], first)
    whole = stored(records(folded([given])))
    known = len(records(before))
    written = data.draw(st.integers(known, len(whole)))
    second = new_fold(first.next_input, whole[known:written])
    second.put(first.heads)
    [after] = folded([given[saved_at:]], second)
    assert after.records == [(s.key, s.record) for s in whole[written:]]
    assert after.met == (whole[written - 1] if written > known else None)
    [alone] = folded([given])
    assert before[0].answers + after.answers == alone.answers
    assert before[0].dead + after.dead == alone.dead


@settings(max_examples=EXAMPLES)
@given(st.data())
def test_what_a_zombie_writes_as_well_changes_nothing(data: st.DataObject) -> None:
    """Two sequencers write the same records; the log holds them woven together."""
    whole = [record for _, record in records(folded([data.draw(inputs())]))]
    woven: list[bytes] = []
    one = two = 0
    while one < len(whole) or two < len(whole):
        if two == len(whole) or (one < len(whole) and data.draw(st.booleans())):
            woven.append(whole[one])
            one += 1
        else:
            woven.append(whole[two])
            two += 1
    kept = first_occurrences(stored([(b"", record) for record in woven]), (-1, -1))
    assert [s.record for s in kept] == whole


def test_first_occurrences_are_those_beyond_a_place() -> None:
    whole = stored(records(folded([appends("a", "b", "c")])))
    assert list(first_occurrences(whole, (0, 1))) == whole[2:]
    assert list(first_occurrences(whole, (0, 2**31))) == whole[2:]
    assert list(first_occurrences(whole, (1, 0))) == whole[3:]


def test_the_tail_is_met_again_and_not_emitted() -> None:
    given = appends("a", "b")
    whole = stored(records(folded([given])), first=40)
    [step] = folded([given], new_fold(0, whole[:3]))
    assert step.records == [(whole[3].key, whole[3].record)]
    assert step.met == whole[2]
    assert len(step.answers) == 2


def test_another_record_than_the_fold_gives_stops_it() -> None:
    given = appends("a", "b")
    other = stored(records(folded([appends("x", "b")])), first=40)
    with pytest.raises(IntegrityError, match=r"events position 40: .* request at 0"):
        folded([given], new_fold(0, other))


def test_a_record_that_the_fold_does_not_give_stops_it() -> None:
    given = appends("a", "b")
    whole = stored(records(folded([given])), first=40)
    refused = [given[0]._replace(value=b"rubbish"), given[1]]
    with pytest.raises(IntegrityError, match=r"events position 40: .* request at 0"):
        folded([refused], new_fold(0, whole))


def test_a_batch_that_is_longer_in_the_log_than_the_fold_makes_it_stops_it() -> None:
    long = given_input(STREAMS[0], request(said("a"), said("b"), append_id="i"), 0)
    short = given_input(STREAMS[0], request(said("a"), append_id="i"), 0)
    whole = stored(records(folded([[long]])))
    with pytest.raises(IntegrityError):
        folded([[short]], new_fold(0, whole))


def test_the_next_input_is_the_one_after_the_last_folded() -> None:
    fold = new_fold(0)
    given = appends("a", first=7)
    [step] = folded([given], fold)
    assert (fold.next_input, step.next_input) == (8, 8)
    assert step.input_digest == input_digest(given[-1])


def test_heads_are_asked_for_once_and_only_those_of_streams() -> None:
    fold = new_fold()
    given = [
        *appends("a"),
        Input(Position(1), given_input(STREAMS[1], b"").timestamp_ms, None, b""),
    ]
    assert fold.missing(given) == {STREAMS[0]}
    folded([given], fold)
    assert fold.missing(appends("b", first=2)) == set()
    fold.forget([STREAMS[0]])
    assert fold.missing(appends("b", first=2)) == {STREAMS[0]}


def test_a_refusal_changes_no_head() -> None:
    given = [given_input(STREAMS[0], request(said("a"), expected_version=9), 0)]
    [step] = folded([given])
    assert step.heads == {}
    [(letter, refusal)] = step.dead
    assert (letter, refusal.reason) == (given[0], "conflict")
    assert len(step.answers) == 1


def test_digests_tell_any_two_records_apart() -> None:
    plain = given_input(STREAMS[0], b"value", 1)
    others = [
        plain._replace(position=Position(2)),
        plain._replace(timestamp_ms=Milliseconds(plain.timestamp_ms + 1)),
        plain._replace(key=None),
        plain._replace(key=b""),
        plain._replace(value=None),
        plain._replace(value=b""),
        plain._replace(key=(plain.key or b"") + b"v", value=b"alue"),
    ]
    assert len({input_digest(each) for each in (plain, *others)}) == 8
    assert {len(input_digest(plain)), len(record_digest(b""))} == {16}
    assert record_digest(b"a") != record_digest(b"b")
