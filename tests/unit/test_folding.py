"""Folding a partition for a read model: once each, in order, and never past a gap or a fork."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.envelope import NO_HASH, Recorded
from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position, StreamId, stream_id
from projections.folding import Folded, News, Parked, Place, PoisonError, ProjectionFold
from projections.projection import Context, Projection
from projections.rows import Changes, Table
from tests.support import Stream, event, request, said, session_in

PARTITION = Partition(3)
ONE, TWO = session_in(3, 0), session_in(3, 1)
TASK = next(
    task
    for task in (stream_id("task", "default", f"t-{n}") for n in range(100))
    if Stream(task).partition == PARTITION
)


def count(recorded: Recorded, context: Context, changes: Changes) -> Context:
    """Count events and note their order: applying one twice, or in another order, shows."""
    if recorded.type == "custom.poison":
        raise KeyError("call_id")
    changes.add("tally", {"stream": recorded.stream, "count": 1, "last": recorded.append_id})
    return context._replace(version=recorded.version, hash=recorded.hash)


TALLY = Projection(
    name="tally",
    tables=(Table("tally", {"stream": "key", "count": "sum", "last": "last"}),),
    fold=count,
    kinds=frozenset({"session"}),
    types={},
    sql={},
)


def log_of(*streams: StreamId) -> list[Recorded]:
    """Return one event for each, in this order, as they stand in one partition of the log."""
    made: dict[StreamId, Stream] = {}
    events: list[Recorded] = []
    for position, stream in enumerate(streams):
        writer = made.setdefault(stream, Stream(stream))
        writer.position = position
        asked = said("x") if stream.startswith("session") else event("custom.x")
        writer.accept(request(asked, append_id=f"a-{position}"))
        events.append(writer.recorded[-1]._replace(position=Position(position)))
    return events


def new_fold(*, at: int = 0, order: tuple[int, int] = (-1, -1)) -> ProjectionFold:
    fold = ProjectionFold(TALLY)
    fold.places[PARTITION] = Place(Position(at), order, "")
    return fold


def folded(fold: ProjectionFold, events: Sequence[Recorded]) -> Folded:
    fold.put(fold.missing(events), {})
    return fold.fold({PARTITION: events})


def rows(done: Folded) -> dict[str, tuple[int, str]]:
    return {row["stream"]: (row["count"], row["last"]) for row in done.changes.sorted_rows("tally")}


def test_every_event_is_folded_once_and_the_place_is_the_next_to_read() -> None:
    fold, log = new_fold(), log_of(ONE, TWO, ONE)
    done = folded(fold, log)
    assert rows(done) == {ONE: (2, "a-2"), TWO: (1, "a-1")}
    place = Place(Position(3), (2, 0), log[2].hash, log[2].recorded_at)
    assert done.places == fold.places == {PARTITION: place}
    assert fold.contexts[ONE] == Context(2, log[2].hash)


@given(st.data())
def test_the_cut_into_polls_does_not_matter(data: st.DataObject) -> None:
    log = log_of(*data.draw(st.lists(st.sampled_from([ONE, TWO, TASK]), min_size=1, max_size=8)))
    whole = folded(new_fold(), log)
    fold, at, counts = new_fold(), 0, dict[str, tuple[int, str]]()
    while at < len(log):
        size = data.draw(st.integers(1, len(log) - at))
        done = folded(fold, log[at : at + size])
        at += size
        for stream, (number, last) in rows(done).items():
            counts[stream] = (counts.get(stream, (0, ""))[0] + number, last)
    assert counts == rows(whole)
    assert fold.places == whole.places


def test_a_repeat_is_dropped_and_passed_by() -> None:
    fold, log = new_fold(), log_of(ONE, TWO, ONE)
    repeat = log[1]._replace(position=Position(3))
    done = folded(fold, [*log, repeat])
    assert rows(done) == {ONE: (2, "a-2"), TWO: (1, "a-1")}
    place = Place(Position(4), (2, 0), log[1].hash, log[1].recorded_at)
    assert fold.places[PARTITION] == place


def test_what_was_read_already_is_not_read_again() -> None:
    log = log_of(ONE, ONE, ONE)
    fold = new_fold(at=2, order=log[1].order)
    fold.put([ONE], {ONE: Context(2, log[1].hash)})
    done = fold.fold({PARTITION: log})
    assert rows(done) == {ONE: (1, "a-2")}


def test_a_partition_that_is_not_ours_is_left_alone() -> None:
    fold, other = new_fold(), Partition(4)
    done = fold.fold({other: [each._replace(partition=other) for each in log_of(ONE)]})
    assert (rows(done), done.places, other in fold.places) == ({}, {}, False)


def test_streams_of_other_kinds_are_passed_by() -> None:
    fold, log = new_fold(), log_of(TASK, ONE, TASK)
    assert fold.missing(log) == [ONE]
    done = folded(fold, log)
    assert rows(done) == {ONE: (1, "a-1")}
    assert fold.places[PARTITION].next_position == 3


def test_a_kind_is_a_whole_word() -> None:
    fold, log = new_fold(), log_of(ONE)
    lookalike = log[0]._replace(stream=StreamId("sessions/default/x"))
    assert not fold.wanted(lookalike)


def test_a_gap_parks_its_stream_and_the_others_go_on() -> None:
    fold = new_fold()
    log = log_of(ONE, ONE, TWO, ONE, TWO)
    done = folded(fold, [log[0], *log[2:]])
    assert rows(done) == {ONE: (1, "a-0"), TWO: (2, "a-4")}
    [parked] = done.parked
    reason = "version 3 came after 1: events are missing between"
    assert parked == Parked(ONE, PARTITION, 3, reason)
    assert fold.places[PARTITION].next_position == 5
    assert folded(fold, log).parked == []


def test_a_stream_that_does_not_start_at_1_is_a_gap() -> None:
    done = folded(new_fold(), log_of(ONE, ONE)[1:])
    assert done.parked[0].version == 2


def test_an_event_of_another_chain_is_a_fork_and_stops_everything() -> None:
    log = log_of(ONE, ONE)
    forked = log[1]._replace(prevhash=NO_HASH)
    with pytest.raises(IntegrityError, match=r"partition 3, position 1\) .* forks here"):
        folded(new_fold(), [log[0], forked])


def test_a_version_that_is_there_already_is_a_fork_when_it_was_decided_later() -> None:
    log = log_of(ONE, ONE)
    again = log[1]._replace(position=Position(2), input_position=Position(9))
    with pytest.raises(IntegrityError, match="forks here"):
        folded(new_fold(), [*log, again])


def test_an_event_that_cannot_be_folded_is_named() -> None:
    stream = Stream(ONE)
    stream.accept(request(said("a")))
    stream.accept(request(event("custom.poison")))
    events = [e._replace(position=Position(at)) for at, e in enumerate(stream.recorded)]
    with pytest.raises(PoisonError, match=rf"{ONE} version 2 \(custom.poison\)") as poison:
        folded(new_fold(), events)
    assert poison.value.recorded == events[1]
    assert isinstance(poison.value.__cause__, KeyError)


def test_a_parked_stream_is_not_folded_any_more() -> None:
    fold, log = new_fold(), log_of(ONE, TWO)
    fold.parked.add(ONE)
    assert fold.missing(log) == [TWO]
    assert rows(folded(fold, log)) == {TWO: (1, "a-1")}


def test_contexts_are_asked_for_once() -> None:
    fold, log = new_fold(), log_of(TWO, ONE, ONE)
    assert fold.missing(log) == sorted([ONE, TWO])
    folded(fold, log)
    assert fold.missing(log_of(TWO, ONE, ONE, ONE)[3:]) == []


def sparse_fold() -> ProjectionFold:
    fold = ProjectionFold(replace(TALLY, types={"custom.x": 1}, every_event=False))
    fold.places[PARTITION] = Place(Position(0), (-1, -1), "")
    return fold


def test_a_projection_of_some_types_needs_nothing_of_what_came_before() -> None:
    stream = Stream(ONE)
    for asked in (said("a"), event("custom.x"), said("b"), event("custom.x"), event("custom.y")):
        stream.accept(request(asked, append_id=f"a-{stream.position}"))
    log = [e._replace(position=Position(at)) for at, e in enumerate(stream.recorded)]
    fold = sparse_fold()
    assert [fold.wanted(each) for each in log] == [False, True, False, True, False]
    assert fold.missing(log) == []
    done = fold.fold({PARTITION: [*log[:2], *log]})
    assert rows(done) == {ONE: (2, "a-3")}
    assert (fold.contexts, done.parked) == ({}, [])
    place = Place(Position(5), (4, 0), log[4].hash, log[4].recorded_at)
    assert done.places == {PARTITION: place}
    assert rows(fold.fold({PARTITION: log})) == {}


def test_a_projection_may_read_what_is_written_under_a_lease_whatever_its_type() -> None:
    stream = Stream(ONE)
    stream.accept(request(event("lease.acquired", holder="w", fence=1, lease_s=60)))
    for fence in (None, 1):
        stream.accept(request(event("custom.y"), fence=fence))
    log = [e._replace(position=Position(at)) for at, e in enumerate(stream.recorded)]
    fenced = replace(TALLY, types={"custom.x": 1}, every_event=False, fenced=True)
    fold = ProjectionFold(fenced)
    fold.places[PARTITION] = Place(Position(0), (-1, -1), "")
    assert [fold.wanted(each) for each in log] == [False, False, True]
    assert [fenced.reads(each) for each in log] == [False, False, True]
    assert rows(fold.fold({PARTITION: log})) == {ONE: (1, log[2].append_id)}
    assert fenced.digest != replace(fenced, fenced=False).digest


def test_what_a_projection_of_some_types_cannot_fold_is_poison_too() -> None:
    stream = Stream(ONE)
    stream.accept(request(event("custom.poison")))
    poison = replace(TALLY, types={"custom.poison": 1}, every_event=False)
    fold = ProjectionFold(poison)
    fold.places[PARTITION] = Place(Position(0), (-1, -1), "")
    log = [each._replace(position=Position(0)) for each in stream.recorded]
    with pytest.raises(PoisonError):
        fold.fold({PARTITION: log})
    fold.parked.add(ONE)
    assert rows(fold.fold({PARTITION: log})) == {}


def test_what_is_forgotten_must_be_read_anew() -> None:
    fold = new_fold()
    folded(fold, log_of(ONE))
    fold.parked.add(TWO)
    fold.forget()
    assert (fold.places, fold.contexts, fold.parked) == ({}, {}, set())
    assert not fold.wanted(log_of(ONE)[0])


def test_contexts_of_what_is_not_stored_yet_are_kept() -> None:
    fold, log = new_fold(), log_of(ONE, TWO)
    folded(fold, log)
    fold.keep_contexts(log[1:])
    assert fold.contexts.keys() == {TWO}


@given(st.data())
def test_what_is_new_is_the_same_for_each_projection_that_asks(data: st.DataObject) -> None:
    written = log_of(*data.draw(st.lists(st.sampled_from([ONE, TWO]), min_size=1, max_size=6)))
    repeated = data.draw(st.lists(st.sampled_from(written), max_size=4))
    read = [e._replace(position=Position(at)) for at, e in enumerate([*written, *repeated])]
    at = data.draw(st.integers(0, len(written) - 1))
    orders = [(-1, -1), *(each.order for each in written)]

    def folds() -> list[ProjectionFold]:
        made = [new_fold(), new_fold(), new_fold(at=at, order=orders[at])]
        for fold in made:
            hashes = {e.stream: Context(e.version, e.hash) for e in written[:at]}
            fold.put([ONE, TWO], hashes if fold is made[2] else {})
        return made

    news = News()
    shared = [fold.fold({PARTITION: read}, news) for fold in folds()]
    alone = [fold.fold({PARTITION: read}) for fold in folds()]
    assert [(rows(done), done.places) for done in shared] == [
        (rows(done), done.places) for done in alone
    ]
    assert sum(number for number, _ in rows(shared[2]).values()) == len(written) - at
