"""Working memory without servers: which notes hold, and what an event does to them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal import Event, MessageAdded, NotCaughtUp, NoteDeleted, NoteSet, SessionEnded
from agentjournal.ids import Partition, Position, StreamId, Version, stream_id
from agentjournal.receipts import Receipt
from agentjournal.working_memory import (
    Cached,
    Needed,
    Note,
    StoredNotes,
    live_values,
    read_notes,
)
from consumers.cache import Change, advance_of, changes_of
from tests.support import Stream, request, typed
from tests.unit.memory_strategies import events

AT = "2026-01-31T12:00:00.000Z"
SESSION = stream_id("session", "default", "s-1")
PARTITION = Partition(0)
NOTES = {"a": Note(AT, b'{"key":"a","value":1}')}


def note(value: bytes, ttl_s: bytes | None = None) -> Note:
    more = b"" if ttl_s is None else b',"ttl_s":' + ttl_s
    return Note(AT, b'{"key":"k","value":' + value + more + b"}")


def test_a_note_holds_until_its_time_has_passed() -> None:
    notes = {
        "short": note(b'{"$int":"1180591620717411303424"}', b"1.5"),
        "kept": note(b"null"),
        "for ever": note(b"2", b"9223372036854775807"),
    }
    until = datetime.fromisoformat(AT) + timedelta(seconds=1.5)
    before = live_values(notes, until - timedelta(microseconds=1))
    assert before == {"for ever": 2, "kept": None, "short": 2**70}
    assert live_values(notes, until) == {"for ever": 2, "kept": None}


@given(st.lists(events, max_size=12))
def test_changes_say_what_the_events_of_a_session_do(given: list[Event]) -> None:
    stream = Stream(SESSION)
    for each in given:
        stream.accept(request(typed(each)))
    notes: dict[str, int] = {}
    for recorded in stream.recorded:
        if isinstance(recorded.event, NoteSet):
            notes[recorded.event.key] = recorded.version
        elif isinstance(recorded.event, NoteDeleted):
            notes.pop(recorded.event.key, None)
        elif recorded.type in {"session.ended", "session.resumed"}:
            notes = {}
    folded: dict[str, int] = {}
    for change in changes_of(stream.recorded):
        if change.key is None:
            folded = {}
        elif change.note is None:
            folded.pop(change.key, None)
        else:
            folded[change.key] = change.version
    assert folded == notes


def test_what_is_no_note_changes_nothing_but_moves_the_place() -> None:
    stream = Stream(SESSION)
    for each in (MessageAdded(role="user", content="hi"), SessionEnded()):
        stream.accept(request(typed(each)))
    read = [r._replace(position=Position(7 + n)) for n, r in enumerate(stream.recorded)]
    advance = advance_of(Position(5), read)
    assert advance[:4] == (5, 9, 1, read[-1].hash)
    assert advance.changes == [Change(SESSION, Version(2), None, None)]


def test_notes_of_tasks_are_not_cached() -> None:
    stream = Stream(stream_id("task", "default", "t"))
    stream.accept(request(typed(NoteSet(key="a", value=1))))
    assert list(changes_of(stream.recorded)) == []


class FakeCache:
    """A cache that holds `found`, one look after another, and notes what it is filled with."""

    def __init__(self, *found: Cached | None) -> None:
        self.found = list(found)
        self.filled: list[StoredNotes] = []

    async def look(self, stream: StreamId, partition: Partition) -> Cached | None:
        assert (stream, partition) == (SESSION, PARTITION)
        return self.found.pop(0) if len(self.found) > 1 else self.found[0]

    async def fill(self, stream: StreamId, partition: Partition, stored: StoredNotes) -> None:
        assert (stream, partition) == (SESSION, PARTITION)
        self.filled.append(stored)


class FakeStore:
    """Read models that hold `found`, one look after another; empty: nobody may ask."""

    def __init__(self, *found: StoredNotes) -> None:
        self.found = list(found)

    async def wait_until(self, needed: Needed, timeout_s: float) -> None:
        assert self.found, (needed, timeout_s)

    async def read(self, stream: StreamId, partition: Partition) -> StoredNotes:
        assert (stream, partition) == (SESSION, PARTITION)
        return self.found.pop(0) if len(self.found) > 1 else self.found[0]


def stored(*, is_whole: bool = True, next_position: int | None = 9) -> StoredNotes:
    place = None if next_position is None else Position(next_position)
    return StoredNotes(NOTES, is_whole, place, Version(1))


def read(cache: FakeCache, store: FakeStore, needed: Needed) -> Mapping[str, Note]:
    return asyncio.run(read_notes(cache, store, SESSION, needed, 0.05))


RECEIPT = Receipt(SESSION, PARTITION, Position(5), Version(1), Version(1), False, "a")
BY_INPUT = Needed(PARTITION, Position(0), RECEIPT)
BY_OUTPUT = Needed(PARTITION, Position(9))


@pytest.mark.parametrize(
    ("needed", "too_old", "enough"),
    [
        (BY_INPUT, Cached(9, 4, {}), Cached(0, 5, NOTES)),
        (BY_OUTPUT, Cached(8, 9, {}), Cached(9, 0, NOTES)),
    ],
)
def test_a_cache_is_believed_from_where_it_covers_what_is_needed(
    needed: Needed, too_old: Cached, enough: Cached
) -> None:
    assert read(FakeCache(enough), FakeStore(), needed) == NOTES
    assert read(FakeCache(too_old, enough), FakeStore(), needed) == NOTES, "waited for"
    behind = FakeCache(too_old)
    assert read(behind, FakeStore(stored()), needed) == NOTES, "read elsewhere"
    assert behind.filled == [stored()]


def test_a_cache_that_is_away_or_does_not_hold_the_session_is_passed_over() -> None:
    for found in (None, Cached(9, 9, None)):
        assert read(FakeCache(found), FakeStore(stored()), BY_INPUT) == NOTES


def test_a_value_that_is_not_there_yet_is_waited_for() -> None:
    cache = FakeCache(None)
    assert read(cache, FakeStore(stored(is_whole=False), stored()), BY_INPUT) == NOTES
    assert cache.filled == [stored()]
    with pytest.raises(NotCaughtUp):
        read(FakeCache(None), FakeStore(stored(is_whole=False)), BY_INPUT)


def test_nothing_is_filled_from_read_models_that_are_not_at_one_place() -> None:
    cache = FakeCache(None)
    assert read(cache, FakeStore(stored(next_position=None)), BY_INPUT) == NOTES
    assert cache.filled == []
