"""Events as a fold takes them, and the little of each that is read for one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol

from agentjournal.envelope import Recorded, iso_time
from agentjournal.errors import AppendRejected, EventUnreadable
from agentjournal.events import Event, decode_event
from agentjournal.events.decode import decode_plain
from agentjournal.ids import Milliseconds, StreamId, Version

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_READ_AT_ONCE = 500
_last_written = (_EPOCH, "1970-01-01T00:00:00.000Z")


class Foldable(Protocol):
    """An event at its place in a stream: `Recorded` is one, with all of its envelope."""

    @property
    def version(self) -> Version: ...
    @property
    def type(self) -> str: ...
    @property
    def schema_version(self) -> int: ...
    @property
    def recorded_at(self) -> str: ...
    @property
    def tokens(self) -> int | None: ...
    @property
    def hash(self) -> str: ...
    @property
    def event(self) -> Event: ...


class StoredEvent(NamedTuple):
    """What a state is folded from; the rest of the envelope stays in the database."""

    stream: StreamId
    version: Version
    type: str
    schema_version: int
    raw_data: bytes
    at: datetime  # the broker's clock
    tokens: int | None
    hash: str

    @property
    def recorded_at(self) -> str:
        """The broker's time, as it stands in the record."""
        return written_time(self.at)

    @property
    def event(self) -> Event:
        """The event as its model. Raises EventUnreadable."""
        return event_of(self)


def stored_event(recorded: Recorded) -> StoredEvent:
    """Return what is read of an event for a state."""
    return StoredEvent(
        recorded.stream,
        recorded.version,
        recorded.type,
        recorded.schema_version,
        recorded.raw_data,
        datetime.fromisoformat(recorded.recorded_at),
        recorded.tokens,
        recorded.hash,
    )


def event_of(written: Recorded | StoredEvent) -> Event:
    """Return an event as its model. Raises EventUnreadable, which names its place."""
    try:
        return decode_event(written.type, written.schema_version, written.raw_data)
    except AppendRejected as error:
        raise EventUnreadable(
            written.stream,
            written.version,
            written.type,
            written.schema_version,
            error.path,
            error.reason,
        ) from error


class Page(NamedTuple):
    """Events of a stream in their order, and where the stream ended when they were read."""

    last_version: Version
    last_hash: str
    events: Sequence[StoredEvent]
    read: Sequence[Event | None] | None = None  # the events as their models, as far as they are

    def of(self, events: Sequence[StoredEvent]) -> Page:
        """Return the page with other events."""
        return Page(self.last_version, self.last_hash, events)

    def rest(self) -> Page:
        """Return the page without its first event."""
        read = None if self.read is None else self.read[1:]
        return self._replace(events=self.events[1:], read=read)

    def models(self) -> Iterator[Event]:
        """Yield each event as its model, in their order; it is faster than `event_of` for each.

        Raises EventUnreadable when it comes to one.
        """
        for start in range(0, len(self.events), _READ_AT_ONCE):
            some = self.events[start : start + _READ_AT_ONCE]
            known = self.read and self.read[start : start + _READ_AT_ONCE]
            for each, event in zip(some, known or read_plain(some), strict=True):
                yield event_of(each) if event is None else event


def read_plain(written: Sequence[StoredEvent]) -> Sequence[Event | None]:
    """Return the events that are written plainly: one validator reads all of its type."""
    places: dict[tuple[str, int], list[int]] = {}
    for place, each in enumerate(written):
        places.setdefault((each.type, each.schema_version), []).append(place)
    events: list[Event | None] = [None] * len(written)
    for kind, its in places.items():
        read = decode_plain(*kind, [written[place].raw_data for place in its])
        for place, event in zip(its, read, strict=True):
            events[place] = event
    return events


def written_time(at: datetime) -> str:
    """Return a moment of the broker's clock as it stands in the record."""
    global _last_written  # noqa: PLW0603 - events that were appended together have one time
    last, text = _last_written
    if at != last:
        text = iso_time(Milliseconds((at - _EPOCH) // _MILLISECOND))
        _last_written = at, text
    return text


def later(recorded_at: str, seconds: float) -> datetime | None:
    """Return the time so many seconds after one of the record; None: beyond the year 9999."""
    try:
        return datetime.fromisoformat(recorded_at) + timedelta(seconds=seconds)
    except OverflowError:
        return None
