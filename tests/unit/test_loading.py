"""A state as of a version or a moment is the fold of the events up to there, or an error."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice, takewhile
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal import (
    CustomEvent,
    EventUnreadable,
    IntegrityError,
    NoteSet,
    SessionEnded,
    SessionNotFound,
    SessionState,
    Summary,
    VersionNotFound,
)
from agentjournal.collecting import not_collecting
from agentjournal.envelope import Recorded
from agentjournal.ids import StreamId
from agentjournal.loading import KeptState, check_place, stored_state
from agentjournal.stored import Page, event_of, read_plain, stored_event
from agentjournal.summary import log_loaded
from tests.support import BEGAN_MS, Stream, event, message, request, said, typed
from tests.unit.stored_rows import Rows

BEGAN = datetime.fromtimestamp(BEGAN_MS / 1_000, UTC)


def conversation(count: int, seconds: Sequence[int] = ()) -> Stream:
    stream = Stream()
    times = seconds or range(count)
    for number, second in zip(range(count), times, strict=True):
        stream.accept(request(typed(message(f"{number}"))), BEGAN_MS + second * 1_000)
    return stream


def folded(events: Sequence[Recorded], stream: StreamId) -> SessionState:
    state = SessionState(stream)
    for each in events:
        state.apply(each)
    return state


@given(st.data(), st.integers(1, 12))
async def test_a_state_at_a_version_is_the_fold_up_to_it(data: st.DataObject, count: int) -> None:
    stream = conversation(count)
    version = data.draw(st.integers(0, count))
    state = await stored_state(Rows(stream.recorded), stream.stream, version)
    assert state == folded(stream.recorded[:version], stream.stream)
    assert state.version == version


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8).map(sorted), st.integers(-1, 6))
async def test_a_state_at_a_moment_has_what_was_recorded_until_then(
    seconds: list[int], second: int
) -> None:
    stream = conversation(len(seconds), seconds)
    at = BEGAN + timedelta(seconds=second)
    state = await stored_state(Rows(stream.recorded), stream.stream, at)
    assert state.version == sum(each <= second for each in seconds)


async def test_a_moment_may_be_named_in_any_zone() -> None:
    stream = conversation(5)
    at = (BEGAN + timedelta(seconds=2)).astimezone(timezone(timedelta(hours=-9)))
    assert (await stored_state(Rows(stream.recorded), stream.stream, at)).version == 3
    before = at - timedelta(microseconds=1)
    assert (await stored_state(Rows(stream.recorded), stream.stream, before)).version == 2


async def test_only_the_events_up_to_the_version_are_read() -> None:
    stream = conversation(9)
    rows = Rows(stream.recorded)
    await stored_state(rows, stream.stream, 4)
    assert rows.asked == [(0, 4)]


async def test_a_version_that_there_is_not_is_said_with_the_last_one() -> None:
    stream = conversation(3)
    with pytest.raises(
        VersionNotFound, match="has no version 4: its last one is version 3"
    ) as found:
        await stored_state(Rows(stream.recorded), stream.stream, 4)
    assert (found.value.version, found.value.last_version) == (4, 3)
    with pytest.raises(SessionNotFound):
        await stored_state(Rows([]), stream.stream, 0)


@pytest.mark.parametrize(
    ("at", "error", "says"),
    [
        (-1, ValueError, "at=-1 is below 0"),
        (datetime(2026, 1, 31), ValueError, "2026-01-31 00:00:00 has no zone"),  # noqa: DTZ001
        (True, TypeError, "neither a version nor a datetime"),
        ("2026-01-31", TypeError, "'2026-01-31' is neither a version nor a datetime"),
        (1.0, TypeError, "neither a version nor a datetime"),
    ],
)
def test_what_is_no_place_in_a_session_is_refused(
    at: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        check_place(at)


@pytest.mark.parametrize("at", [None, 0, 10**30, datetime(1, 1, 1, tzinfo=UTC)])
def test_versions_and_moments_are_places(at: Any) -> None:
    check_place(at)


@pytest.mark.parametrize("at", [None, 3, 2, BEGAN + timedelta(days=1)])
async def test_events_that_are_missing_before_the_place_are_noticed(at: Any) -> None:
    events = conversation(4).recorded
    with pytest.raises(IntegrityError, match="version 2 is missing"):
        await stored_state(Rows([events[0], *events[2:]]), events[0].stream, at)


@pytest.mark.parametrize("at", [None, 4, BEGAN + timedelta(days=1)])
async def test_an_end_that_is_not_the_heads_is_noticed(at: Any) -> None:
    events = conversation(4).recorded
    with pytest.raises(IntegrityError, match="version 4 is not the head's event"):
        await stored_state(Rows(events, head_hash="0" * 64), events[0].stream, at)


@given(st.lists(st.integers(0, 7), min_size=1, max_size=6).map(sorted))
async def test_a_kept_state_is_what_a_whole_load_comes_to_and_reads_only_what_is_new(
    counts: list[int],
) -> None:
    stream, kept, before = conversation(7), KeptState(), 0
    for count in counts:
        rows = Rows(stream.recorded[:count])
        if not count:
            with pytest.raises(SessionNotFound):
                await kept.current(rows, stream.stream)
            continue
        state = await kept.current(rows, stream.stream)
        whole = await stored_state(rows, stream.stream)
        assert (state, state.summary) == (whole, whole.summary)
        assert rows.asked[0] == (max(0, before - 1), None)
        before = count


async def test_a_kept_state_is_dropped_when_the_past_is_another() -> None:
    kept = KeptState()
    long = conversation(5)
    await kept.current(Rows(long.recorded), long.stream)
    for count in (4, 5, 6):  # shorter, as long, and longer than what is kept
        other = Stream()
        for number in range(count):
            other.accept(request(typed(message(f"other {number}"))))
        state = await kept.current(Rows(other.recorded), other.stream)
        assert state == folded(other.recorded, other.stream)
        await kept.current(Rows(long.recorded), long.stream)
    with pytest.raises(SessionNotFound):
        await kept.current(Rows([]), long.stream)


async def test_a_kept_state_that_failed_is_not_gone_on_from() -> None:
    stream, kept = conversation(6), KeptState()
    events = stream.recorded
    await kept.current(Rows(events[:2]), stream.stream)
    with pytest.raises(IntegrityError, match="version 5 is missing"):
        await kept.current(Rows([*events[:4], events[5]]), stream.stream)
    assert await kept.current(Rows(events), stream.stream) == folded(events, stream.stream)


async def test_the_summary_says_what_a_state_was_folded_from() -> None:
    stream = Stream()
    stream.accept(request(said("a"), said("b"), typed(NoteSet(key="k", value=1))))
    stream.accept(request(typed(CustomEvent("custom.never_registered", {"x": 1})), said("c")))
    whole = (await stored_state(Rows(stream.recorded), stream.stream)).summary
    assert whole.events == {"message.added": 3, "note.set": 1, "custom.never_registered": 1}
    assert whole.skipped == {"custom.never_registered": 1}
    assert (whole.version, whole.last_version, whole.upcast) == (5, 5, 0)
    early = (await stored_state(Rows(stream.recorded), stream.stream, 2)).summary
    assert (early.events, early.version, early.last_version) == ({"message.added": 2}, 2, 5)
    start = (await stored_state(Rows(stream.recorded), stream.stream, 0)).summary
    assert (start.events, start.version, start.last_version) == ({}, 0, 5)


def test_types_and_versions_of_newer_writers_are_counted_as_skipped() -> None:
    stream = Stream()
    stream.accept(request(said("a"), event("session.ended"), said("b")))
    one, two, three = stream.recorded
    state = folded(
        [one, two._replace(type="video.streamed"), three._replace(schema_version=7)], stream.stream
    )
    assert state.summary.skipped == {"video.streamed": 1, "message.added": 1}
    assert [m.text for m in state.messages] == ["a"]
    assert state.version == 3


def test_a_load_is_logged_in_one_line_of_json_without_what_was_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stream = Stream()
    stream.accept(request(said("a secret"), typed(SessionEnded(reason="another secret"))))
    summary = folded(stream.recorded, stream.stream).summary
    summary.waited_s, summary.lag = 0.123456, 0
    with caplog.at_level(logging.INFO, logger="agentjournal"):
        log_loaded(stream.stream, summary)
    [line] = caplog.messages
    assert "\n" not in line
    assert orjson.loads(line) == {
        "event": "session_loaded",
        "stream": stream.stream,
        "version": 2,
        "last_version": 2,
        "events": {"message.added": 1, "session.ended": 1},
        "upcast": 0,
        "skipped": {},
        "lag": 0,
        "waited_s": 0.1235,
    }


def test_nothing_is_logged_where_nobody_asked_for_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="agentjournal"):
        log_loaded(Stream().stream, Summary())
    assert caplog.messages == []


async def test_an_event_behind_the_moment_need_not_be_readable() -> None:
    events = conversation(4).recorded
    rows = Rows([*events[:3], events[3]._replace(raw_data=b"{}")])
    at = BEGAN + timedelta(seconds=2)
    assert await stored_state(rows, events[0].stream, at) == folded(events[:3], events[0].stream)
    with pytest.raises(EventUnreadable) as unreadable:
        await stored_state(rows, events[0].stream)
    assert unreadable.value.version == 4


@given(st.lists(st.sampled_from(["said", "note", "custom", "unreadable"]), max_size=9))
def test_the_events_of_a_page_are_read_as_each_alone(kinds: list[str]) -> None:
    stream = Stream()
    made = {"note": NoteSet(key="k", value=b"1"), "custom": CustomEvent("custom.x", {"a": 1})}
    stream.accept(request(*[typed(made[k]) if k in made else said(k) for k in ["said", *kinds]]))
    stored = [
        stored_event(each._replace(raw_data=b"{}") if kind == "unreadable" else each)
        for kind, each in zip(["said", *kinds], stream.recorded, strict=True)
    ]
    whole = Page(stored[-1].version, stored[-1].hash, stored)
    readable = list(takewhile(lambda each: each.raw_data != b"{}", stored))
    for page in (whole, whole._replace(read=read_plain(stored))):
        models, read = page.models(), [event_of(each) for each in readable]
        assert [next(models) for _ in readable] == read
        assert list(islice(page.rest().models(), len(readable) - 1)) == read[1:]
        if len(readable) < len(stored):
            with pytest.raises(EventUnreadable):
                next(models)


def test_nothing_is_collected_inside_and_what_was_on_is_on_again() -> None:
    assert gc.isenabled()
    with not_collecting():
        with not_collecting():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with not_collecting():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_process_that_is_forked_off_meanwhile_collects() -> None:
    program = (
        "import gc, os\n"
        "from agentjournal.collecting import not_collecting\n"
        "with not_collecting():\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        os._exit(0 if gc.isenabled() else 1)\n"
        "    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), gc.isenabled())\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stdout == "0 False\n"
