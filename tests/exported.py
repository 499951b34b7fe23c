"""Exported sessions for tests: records of a log as a sequencer chains them."""

from __future__ import annotations

from collections.abc import Sequence

from agentjournal.envelope import NO_HASH
from agentjournal.events import Event
from agentjournal.ids import Milliseconds, Position, StreamId, Version, stream_id
from agentjournal.requests import NewEvent, Request
from streams.records import BatchPlace, build_records

STREAM = stream_id("session", "acme", "s-1")
BEGAN_MS = 1_767_225_600_000  # 2026-01-01


def exported(*batches: Sequence[Event | NewEvent], stream: StreamId = STREAM) -> list[bytes]:
    """Return the lines of a session: one append each, a second apart."""
    lines: list[bytes] = []
    prevhash = NO_HASH
    for number, batch in enumerate(batches):
        events = [
            each
            if isinstance(each, NewEvent)
            else NewEvent(f"{stream}-{number}-{at}", each.type, each.encoded(), each.schema_version)
            for at, each in enumerate(batch)
        ]
        request = Request(f"a-{number}", events, "/acme/support", agent="support", worker="w-1")
        when = Milliseconds(BEGAN_MS + 1_000 * number)
        place = BatchPlace(stream, Position(number), when, 1)
        made, prevhash = build_records(place, request, events, Version(len(lines)), prevhash)
        lines += made
    return lines
