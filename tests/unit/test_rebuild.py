"""Heads from the log alone: the same ones as the fold had when it wrote it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position, StreamId
from streams.decide import Input
from streams.head import Head
from streams.partition_fold import PartitionFold, Step, Stored
from streams.rebuild import Rebuild
from tests.support import RULES, event, request, said, started, stored
from tests.support import given as given_input
from tests.unit.fold_strategies import EXAMPLES, PARTITION, STREAMS, inputs, no_heads


def fold_of(given: Sequence[Input]) -> Step:
    fold = PartitionFold(RULES, Partition(PARTITION), Position(0))
    fold.put(no_heads(fold.missing(given)))
    return fold.step(given)


def rebuilt(log: Sequence[Stored], start: int = 0) -> Rebuild:
    rebuild = Rebuild(Partition(PARTITION), Position(start))
    for each in log:
        rebuild.add(each)
    return rebuild


@settings(max_examples=EXAMPLES)
@given(inputs())
def test_rebuilt_heads_are_those_of_the_fold(given: list[Input]) -> None:
    step = fold_of(given)
    rebuild = rebuilt(stored(step.records))
    assert rebuild.heads == step.heads
    assert rebuild.tail == []
    assert rebuild.next_output == len(step.records)


@settings(max_examples=EXAMPLES)
@given(st.data())
def test_from_a_log_that_ends_anywhere_the_fold_goes_on_to_the_same_heads(
    data: st.DataObject,
) -> None:
    given = data.draw(inputs())
    step = fold_of(given)
    written = stored(step.records)[: data.draw(st.integers(0, len(step.records)))]
    rebuild = rebuilt(written)
    fold = PartitionFold(RULES, Partition(PARTITION), rebuild.next_input, rebuild.tail)
    rest = [each for each in given if each.position >= rebuild.next_input]
    heads: dict[StreamId, Head] = rebuild.heads
    fold.put({stream: heads.get(stream) for stream in fold.missing(rest)})
    again = fold.step(rest)
    assert heads | again.heads == step.heads
    assert [*((s.key, s.record) for s in written), *again.records] == step.records
    assert rebuild.next_output + len(rebuild.tail) == len(written)


@settings(max_examples=EXAMPLES)
@given(st.data())
def test_repeats_in_the_log_change_nothing(data: st.DataObject) -> None:
    step = fold_of(data.draw(inputs()))
    woven: list[tuple[bytes, bytes]] = []
    for at, pair in enumerate(step.records):
        woven.append(pair)
        if data.draw(st.booleans()):
            woven.extend(step.records[data.draw(st.integers(0, at)) : at + 1])
    assert rebuilt(stored(woven)).heads == step.heads


def test_a_cut_batch_is_kept_as_the_tail_and_its_request_comes_next() -> None:
    given = [
        given_input(STREAMS[0], request(said("a"), start=started("u-7")), 4),
        given_input(STREAMS[1], request(said("b"), said("c"), said("d")), 9),
    ]
    log = stored(fold_of(given).records, first=20)
    rebuild = rebuilt(log[:4], start=20)
    assert set(rebuild.heads) == {STREAMS[0]}
    assert (rebuild.next_input, rebuild.next_output) == (5, 22)
    assert rebuild.last == log[1]
    assert rebuild.tail == log[2:4]


def test_a_session_that_the_caller_started_is_rebuilt_too() -> None:
    given = [given_input(STREAMS[0], request(started("u-7"), said("a"), start=started("u-8")), 0)]
    step = fold_of(given)
    assert rebuilt(stored(step.records)).heads == step.heads


def test_moments_are_rebuilt_to_the_millisecond() -> None:
    for ms in (0, 1, 999, 1_769_860_800_001, 4_102_444_799_999):
        step = fold_of([given_input(STREAMS[0], request(said("a")), 0, ms)])
        assert rebuilt(stored(step.records)).heads == step.heads


def test_an_empty_log_gives_no_heads_and_starts_with_the_first_request() -> None:
    rebuild = rebuilt([], start=7)
    assert (rebuild.heads, rebuild.next_input, rebuild.next_output) == ({}, 0, 7)
    assert (rebuild.last, rebuild.tail) == (None, [])


def test_a_record_that_was_changed_stops_it() -> None:
    log = stored(fold_of([given_input(STREAMS[0], request(said("abc")), 0)]).records)
    changed = log[0]._replace(record=log[0].record.replace(b"abc", b"abd"))
    with pytest.raises(IntegrityError):
        rebuilt([changed])


def test_a_rebuilt_window_remembers_the_last_256_appends() -> None:
    given = [
        given_input(STREAMS[0], request(event("custom.x"), append_id=f"a-{n}"), n)
        for n in range(300)
    ]
    step = fold_of(given)
    assert rebuilt(stored(step.records)).heads == step.heads
    assert len(step.heads[STREAMS[0]].appends) == 256 * 32
