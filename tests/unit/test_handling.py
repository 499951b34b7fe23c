"""What a service has still to handle: a queue for each stream, and the place to commit."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal import IntegrityError, Parked
from agentjournal.envelope import Recorded, parse_record
from agentjournal.handling import Queues
from agentjournal.ids import Partition, Position, StreamId
from agentjournal.subscribing import Reading, Wanted
from agentjournal.subscriptions import Place
from tests.support import Stream, request, said

ALL = Wanted.of(None, None)
START = Place(Position(0))
STREAMS = [StreamId(f"session/default/s-{n}") for n in range(3)]


def log_of(turns: list[tuple[int, int]]) -> list[Recorded]:
    """Return a partition: streams take turns, and after each some last records stand again."""
    written = [Stream(stream) for stream in STREAMS]
    first: list[bytes] = []
    records: list[bytes] = []
    for position, (number, again) in enumerate(turns):
        written[number].position = position
        written[number].accept(request(said(str(position))))
        first.append(written[number].records[-1])
        records += [first[-1], *first[len(first) - again :]]
    return [parse_record(r, Partition(0), Position(n)) for n, r in enumerate(records)]


def parked_at(recorded: Recorded) -> Parked:
    where = (recorded.version, recorded.partition, recorded.position)
    return Parked("x", recorded.stream, *where, recorded.id, recorded.type, "no", 1, "now")


turns = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=25)
steps = st.lists(st.sampled_from(["read", "read", "read", 0, 1, 2, "park", "crash"]), max_size=60)


@given(turns, steps)
def test_whatever_happens_each_event_is_handled_in_order_or_behind_a_parked_one(
    turns: list[tuple[int, int]], steps: list[str | int]
) -> None:
    log = log_of(turns)
    queues, place, parked = Queues(START, {}), START, dict[StreamId, Parked]()
    handled: dict[StreamId, list[int]] = defaultdict(list)
    for step in [*steps, *["read"] * len(log), *[0, 1, 2] * len(log)]:
        if step == "read" and queues.read < len(log):
            queues.take(log[queues.read], ALL)
        elif step == "crash":
            queues = Queues(place, parked)
        elif step == "park" and (recorded := queues.next(STREAMS[0])) is not None:
            parked[recorded.stream] = parked_at(recorded)
            queues.park(parked[recorded.stream])
        elif isinstance(step, int) and (recorded := queues.next(STREAMS[step])) is not None:
            before = handled[recorded.stream]
            assert recorded.version <= max(before, default=0) + 1
            before.append(recorded.version)
            queues.done(recorded.stream)
        assert queues.place.position >= place.position
        place = queues.place
        first_open = [e.position for e in log[: place.position] if is_open(e, handled, parked)]
        assert first_open == [], "what is committed is handled, or kept where it stopped"
    assert place.position == len(log)


def is_open(
    recorded: Recorded, handled: dict[StreamId, list[int]], parked: dict[StreamId, Parked]
) -> bool:
    stopped = parked.get(recorded.stream)
    is_held_back = stopped is not None and recorded.version >= stopped.version
    return not is_held_back and recorded.version not in handled[recorded.stream]


def test_the_next_of_a_stream_waits_and_the_others_do_not() -> None:
    one, two, other = log_of([(0, 0), (0, 0), (1, 0)])
    queues = Queues(START, {})
    assert [queues.take(each, ALL) for each in (one, two, other)] == [STREAMS[0], None, STREAMS[1]]
    queues.done(STREAMS[1])
    assert (queues.place.position, queues.held) == (0, 2)
    queues.done(STREAMS[0])
    assert (queues.next(STREAMS[0]), queues.place.position) == (two, 1)
    queues.done(STREAMS[0])
    assert (queues.next(STREAMS[0]), queues.place.position, queues.held) == (None, 3, 0)


def test_a_parked_stream_holds_nothing_in_memory_and_goes_on_when_it_is_released() -> None:
    one, two, three = log_of([(0, 0), (0, 0), (0, 0)])
    queues = Queues(START, {})
    queues.take(one, ALL)
    queues.park(parked_at(one))
    assert queues.take(two, ALL) is None
    assert (queues.held, queues.place.position) == (0, 2)
    queues.release(STREAMS[0])
    assert queues.take(three, ALL) == STREAMS[0]


def test_a_repeat_behind_a_place_is_told_by_the_order_beside_it() -> None:
    first, second, *again = log_of([(0, 0), (0, 2)])
    queues = Queues(START, {})
    queues.take(first, ALL)
    queues.take(second, ALL)
    queues.done(STREAMS[0])
    queues.done(STREAMS[0])
    restarted = Queues(queues.place, {})
    assert [restarted.take(each, ALL) for each in again] == [None, None]
    assert restarted.place.position == 4
    forgetful = Queues(Place(queues.place.position), {})  # as another tool sets an offset
    assert [forgetful.take(each, ALL) for each in again] == [STREAMS[0], None]


def test_a_gap_and_a_fork_are_seen() -> None:
    first, second, third = log_of([(0, 0), (0, 0), (0, 0)])
    reading = Reading(START)
    reading.is_new(first)
    with pytest.raises(IntegrityError, match="version 3 does not follow version 1"):
        reading.is_new(third)
    fork = second._replace(prevhash="0" * 64)
    with pytest.raises(IntegrityError, match="version 2 does not follow version 1"):
        reading.is_new(fork)


@pytest.mark.parametrize("name", ["types", "tenants"])
def test_a_text_in_place_of_several_is_refused(name: str) -> None:
    given = {"types": None, "tenants": None, name: "message.added"}
    with pytest.raises(TypeError, match=f"{name}='message.added' is a text"):
        Wanted.of(**given)
