"""The read model `memory`: the rows that notes come to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal import (
    Event,
    NoteDeleted,
    NoteSet,
    SessionDeleted,
    SessionEnded,
    SessionExpired,
    SessionResumed,
)
from projections.memory import MEMORY
from tests.unit.folded_rows import at, rows_of
from tests.unit.memory_strategies import events


def test_the_last_note_of_a_key_is_the_one_that_holds() -> None:
    found = rows_of(
        MEMORY,
        NoteSet(key="a", value=1, ttl_s=60),
        NoteSet(key="b", value=2, ttl_s=2**63 - 1),
        NoteSet(key="a", value="\0"),
    )
    assert found["notes"] == [
        {"key": "a", "version": 3, "deleted": False, "ttl_s": -1, "recorded_at": at(2)},
        {"key": "b", "version": 2, "deleted": False, "ttl_s": 2.0**63, "recorded_at": at(1)},
    ]


def test_a_note_that_was_deleted_says_so_until_it_is_set_again() -> None:
    given_events = [NoteSet(key="a", value=1, ttl_s=60), NoteDeleted(key="a")]
    [row] = rows_of(MEMORY, *given_events)["notes"]
    assert row == {"key": "a", "version": 2, "deleted": True, "ttl_s": -1, "recorded_at": at(1)}
    [row] = rows_of(MEMORY, *given_events, NoteSet(key="a", value=2))["notes"]
    assert (row["deleted"], row["version"]) == (False, 3)


@pytest.mark.parametrize("ending", [SessionEnded(), SessionDeleted(reason="asked for")])
def test_where_a_session_ended_is_noted(ending: Event) -> None:
    [row] = rows_of(MEMORY, NoteSet(key="a", value=1), ending)["note_ends"]
    assert row == {"version": 2}


def test_where_a_session_expired_is_noted_until_it_is_resumed() -> None:
    expired = [NoteSet(key="a", value=1), SessionExpired(idle_s=1)]
    assert rows_of(MEMORY, *expired)["note_ends"] == [{"expired_version": 2}]
    assert rows_of(MEMORY, *expired, SessionResumed())["note_ends"] == [{"expired_version": 0}]


@given(st.lists(events, max_size=12))
def test_a_row_is_the_last_event_of_its_key(given: list[Event]) -> None:
    last: dict[str, tuple[int, bool]] = {}
    for version, each in enumerate(given, 1):
        if isinstance(each, NoteSet | NoteDeleted):
            last[each.key] = (version, isinstance(each, NoteDeleted))
    found = rows_of(MEMORY, *given)["notes"]
    assert {row["key"]: (row["version"], row["deleted"]) for row in found} == last
