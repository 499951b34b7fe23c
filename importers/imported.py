"""What reading a file gives: sessions of events, and a report that accounts for every record."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentjournal.events import Event, decode_event

RECORD = "custom.import.record"  # a record that no event type stands for, as it was written
FIELDS = "custom.import.fields"  # what the file says about a session, besides its events
MISSING = "custom.import.missing"  # names values that were too large for the log


@dataclass(frozen=True, slots=True)
class ImportedEvent:
    """An event on its way from a file into the log, as the bytes that it has there.

    `time` is the source's, ISO 8601, None where it has none. An event that is `aside` (a FIELDS
    one) has no place in the order of the others. What follows is given where the source has it.
    """

    id: str
    type: str
    schema_version: int
    data: bytes
    time: str | None = None
    aside: bool = False
    tokens: int | None = None
    correlation_id: str | None = None
    causation_id: str | None = None
    traceparent: str | None = None

    @property
    def event(self) -> Event:
        """The event, read from its bytes."""
        return decode_event(self.type, self.schema_version, self.data)


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """One session of a file. `earlier_id`: what it was called while it was the file's only one.

    `contents` are values that left its events for an artifact store, by their digests; `needed` are
    the digests of all that did.
    """

    session_id: str
    native_key: str
    events: Sequence[ImportedEvent]
    earlier_id: str | None = None
    contents: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    needed: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something of a file that is not in the log; `offset` and `size` in bytes where they apply."""

    place: str
    reason: str
    offset: int | None = None
    size: int | None = None

    def __str__(self) -> str:
        at = "" if self.offset is None else f" at byte {self.offset:,}"
        size = "" if self.size is None else f" ({self.size:,} bytes)"
        return f"{self.place}{at}{size}: {self.reason}"


@dataclass(slots=True)
class Report:
    """The account of one file: records = those read; messages and results = those in sessions.

    `opaque` records are kept as RECORD events, `repeated` messages stand earlier in their session
    already. `notes` say what was kept in another form than it had.
    """

    records: int = 0
    sessions: int = 0
    messages: int = 0
    tool_calls: int = 0
    results: int = 0
    model_calls: int = 0
    opaque: int = 0
    repeated: int = 0
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])
    notes: list[str] = field(default_factory=list[str])

    def as_json(self) -> dict[str, Any]:
        """Return the report in JSON values."""
        counts = {name: getattr(self, name) for name in COUNTS}
        left_out = [
            {"place": each.place, "offset": each.offset, "size": each.size, "reason": each.reason}
            for each in self.left_out
        ]
        return {**counts, "left_out": left_out, "notes": list(self.notes)}


COUNTS = (
    *("records", "sessions", "messages", "tool_calls", "results"),
    *("model_calls", "opaque", "repeated"),
)


@dataclass(frozen=True, slots=True)
class Imported:
    """A file that was read."""

    sessions: Sequence[ImportedSession]
    report: Report
    format: str


@dataclass(frozen=True, slots=True)
class NotRecognised:
    """A file in no format that is known; `reason` says what it is and what was expected."""

    reason: str
