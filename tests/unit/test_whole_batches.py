"""Readers see appends whole or not at all, wherever a poll ends and whatever is repeated."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from agentjournal.envelope import Recorded, parse_record
from agentjournal.ids import Partition, Position
from projections.whole_batches import WholeBatches
from tests.support import Stream, request, said


def log_of(*sizes: int) -> list[Recorded]:
    """Return the events of appends of these sizes, at positions from 0 on."""
    stream = Stream()
    for size in sizes:
        stream.accept(request(*[said(str(n)) for n in range(size)]))
    return at_positions(stream.recorded)


def at_positions(events: Sequence[Recorded]) -> list[Recorded]:
    return [each._replace(position=Position(at)) for at, each in enumerate(events)]


LOG = log_of(3, 1, 2)


def firsts(events: Sequence[Recorded]) -> list[tuple[int, int]]:
    """Return the order of each event that comes first, as a reader keeps it."""
    seen: list[tuple[int, int]] = []
    for each in events:
        if not seen or each.order > seen[-1]:
            seen.append(each.order)
    return seen


def test_an_append_comes_when_its_last_event_is_there() -> None:
    whole = WholeBatches()
    assert whole.whole(LOG[:2]) == []
    assert whole.whole([]) == []
    assert whole.whole(LOG[2:5]) == LOG[:4]
    assert whole.whole(LOG[5:]) == LOG[4:]


def test_a_repeat_behind_whole_appends_is_passed_by() -> None:
    """Else a reader would never get to the end of a log that ends with repeats."""
    whole = WholeBatches()
    log = at_positions([*LOG, *LOG[1:3]])
    assert [r.position for r in whole.passed(log)] == list(range(8))


def test_repeats_are_dropped_for_whoever_keeps_no_positions() -> None:
    whole = WholeBatches()
    log = at_positions([*LOG[:2], *LOG[:4], *LOG[3:], *LOG])
    assert [r.order for r in whole.whole(log)] == [r.order for r in LOG]


def test_a_repeat_within_a_half_append_does_not_make_it_whole() -> None:
    whole = WholeBatches()
    log = at_positions([*LOG[:4], LOG[4], *LOG[2:4]])
    assert [r.position for r in whole.passed(log)] == [0, 1, 2, 3]
    end = LOG[5]._replace(position=Position(7))
    assert [r.position for r in whole.passed([end])] == [4, 5, 6, 7]


@given(st.data())
def test_whatever_is_repeated_and_wherever_a_poll_ends_appends_come_whole(
    data: st.DataObject,
) -> None:
    once = log_of(*data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=5)))
    written: list[Recorded] = []
    for at, each in enumerate(once[: data.draw(st.integers(1, len(once)))]):
        written.append(each)
        for _ in range(data.draw(st.integers(0, 1))):
            written.extend(once[data.draw(st.integers(0, at)) : at + 1])
    log = at_positions(written)
    whole, read, at = WholeBatches(), list[Recorded](), 0
    while at < len(log):
        size = data.draw(st.integers(1, len(log) - at))
        read += whole.passed(log[at : at + size])
        at += size
        last = firsts(read)[-1:]
        ends = [r.order for r in once if r.batch_index + 1 == r.batch_size]
        assert not last or last[0] in ends
    assert read == log[: len(read)]
    complete = [r.order for r in once if (r.input_position, r.batch_size - 1) in firsts(written)]
    assert firsts(read) == complete
    if firsts(written)[-1] in complete:
        assert read == log


def test_partitions_are_told_apart_by_whoever_reads_them() -> None:
    record = Stream().ask(request(said("a"))).records[0]
    first, second = (parse_record(record, Partition(p)) for p in (0, 1))
    assert WholeBatches().whole([first]) == [first]
    assert WholeBatches().whole([second]) == [second]
