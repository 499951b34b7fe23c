"""The events of one session as they are collected: each with its id, and counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentjournal.events import (
    CustomEvent,
    Event,
    MessageAdded,
    ModelCalled,
    SessionStarted,
    ToolCompleted,
)
from importers.identity import Seed
from importers.imported import RECORD, ImportedEvent, LeftOut, Report
from importers.oversize import MAX_EVENT_BYTES, fitted, marker

AGENT = "import"


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the file something stands: in words, and the offset of its record in bytes."""

    words: str
    offset: int


class SessionEvents:
    """Events in their order; what is too large for the log is taken out and reported."""

    def __init__(self, seed: Seed, report: Report) -> None:
        self.seed, self.report = seed, report
        self._events: list[ImportedEvent] = []
        self._index = 0
        self._asides: set[str] = set()

    @property
    def index(self) -> int:
        """How many events there are that have a place in the order."""
        return self._index

    def next_id(self, content: bytes, *, ahead: int = 0) -> str:
        """Return the id of the event that is added next, or `ahead` events after it."""
        return self.seed.event_id(self._index + 1 + ahead, content)

    def add(self, event_id: str, event: Event, place: Place, time: str | None = None) -> None:
        """Add the next event."""
        self._index += 1
        count(self.report, event)
        self._put(event_id, event, place, time, aside=False)

    def add_aside(self, content: bytes, event: Event, place: Place) -> None:
        """Add an event that has no place in the order: its id says its content only."""
        nth = 0
        while (event_id := self.seed.event_id(-1 - nth, content)) in self._asides:
            nth += 1
        self._asides.add(event_id)
        self._put(event_id, event, place, None, aside=True)

    def finished(
        self, *, title: str, labels: dict[str, Any], user: str | None
    ) -> list[ImportedEvent]:
        """Return all events, behind the one that starts the session."""
        start = SessionStarted(user=user, agent=AGENT, title=title, labels=labels)
        # Neither title nor labels are in its id: a file that grew may have another title.
        start_id = self.seed.event_id(0, (user or "").encode())
        return [_imported(start_id, start, start.encoded()), *self._events]

    def _put(
        self, event_id: str, event: Event, place: Place, time: str | None, *, aside: bool
    ) -> None:
        event, data, missing = fitted(event, event.encoded())
        self._events.append(_imported(event_id, event, data, time, aside=aside))
        if not missing:
            return
        note = marker(event_id, event, missing)
        note_id = self.seed.event_id(self._index, b"missing\0" + event_id.encode())
        self._events.append(_imported(note_id, note, note.encoded(), time, aside=aside))
        reason = (
            f"does not fit into one request with the rest of its event ({MAX_EVENT_BYTES:,} bytes)"
        )
        for each in missing:
            where = f"{place.words}, {each.place}"
            self.report.left_out.append(LeftOut(where, reason, place.offset, each.size))


def count(report: Report, event: Event) -> None:
    """Count an event in the account of its file."""
    match event:
        case MessageAdded():
            report.messages += 1
            report.tool_calls += len(event.tool_calls)
        case ToolCompleted():
            report.results += 1
        case ModelCalled():
            report.model_calls += 1
        case CustomEvent(type=type_) if type_ == RECORD:
            report.opaque += 1
        case _:
            pass


def _imported(
    event_id: str, event: Event, data: bytes, time: str | None = None, *, aside: bool = False
) -> ImportedEvent:
    return ImportedEvent(event_id, event.type, event.schema_version, data, time, aside)
