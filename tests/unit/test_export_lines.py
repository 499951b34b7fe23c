"""An exported session is its records byte for byte, and none that is not proven by its hash."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal.envelope import NO_HASH, Recorded, parse_record
from agentjournal.errors import IntegrityError
from agentjournal.events import MessageAdded, NoteSet, SessionStarted
from agentjournal.ids import Milliseconds, Position, Version
from agentjournal.requests import NewEvent, Request
from commands.export_lines import RecordLines
from streams.records import BatchPlace, build_records
from tests.exported import STREAM, exported

texts = st.text(st.characters(codec="utf-8", min_codepoint=0xA0), min_size=1, max_size=20)
maybe = st.none() | texts
new_events = st.builds(
    NewEvent,
    texts,
    texts,
    st.sampled_from([b"{}", b'{"a":"\\u0000\\ud800"}', b'{ "b" : [1.0,1e400,"\xe2\x80\xa8"] }']),
    st.integers(1, 9),
    maybe,
    st.none() | st.integers(0, 2**31 - 1),
    maybe,
    maybe,
    maybe,
)


def stored(line: bytes) -> Recorded:
    """Return what the table holds of a record."""
    return parse_record(line)._replace(prevhash="", start=False)


@given(
    st.lists(st.lists(new_events, min_size=1, max_size=3), min_size=1, max_size=3),
    maybe,
    maybe,
    st.none() | st.integers(1, 2**40),
    st.integers(0, 253_402_300_799_999),
    st.booleans(),
)
def test_whatever_a_record_holds_its_line_is_the_record(
    batches: list[list[NewEvent]],
    agent: str | None,
    worker: str | None,
    fence: int | None,
    at_ms: int,
    begun: bool,
) -> None:
    records: list[bytes] = []
    prevhash = NO_HASH
    for number, events in enumerate(batches):
        start = events[0] if begun and not number else None
        batch = events if start is None else [start, *events]
        request = Request(
            f"a-{number}", events, "/acme/a", agent=agent, worker=worker, fence=fence, start=start
        )
        place = BatchPlace(STREAM, Position(number), Milliseconds(at_ms), 1)
        made, prevhash = build_records(place, request, batch, Version(len(records)), prevhash)
        records += made
    lines = RecordLines(STREAM)
    assert [lines.line(stored(each)) for each in records] == records


def test_what_is_missing_or_not_what_its_hash_says_stops_the_export() -> None:
    first, second, third = exported(
        [SessionStarted(user="u", agent="a")],
        [MessageAdded(role="user", content="hi")],
        [NoteSet(key="k", value=1)],
    )
    lines = RecordLines(STREAM)
    lines.line(stored(first))
    with pytest.raises(IntegrityError, match=f"{STREAM}: version 2 is missing"):
        lines.line(stored(third))
    for wrong in (
        stored(second)._replace(raw_data=b'{"role":"user"}'),
        stored(second)._replace(recorded_at="2026-01-01T00:00:09.000Z"),
        stored(second)._replace(hash="f" * 64),
    ):
        with pytest.raises(IntegrityError, match=f"{STREAM} version 2: its hash"):
            lines.line(wrong)
    lines.line(stored(second))
