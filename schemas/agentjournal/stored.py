"""Events as a fold takes them, and the little of each that is read for one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol

from agentjournal.envelope import Recorded, iso_time
from agentjournal.errors import AppendRejected, EventUnreadable
from agentjournal.events import Event, decode_event
from agentjournal.ids import Milliseconds, StreamId, Version

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


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
    last_version: int  # of the stream, at the moment of reading

    @property
    def recorded_at(self) -> str:
        """The broker's time, as it stands in the record."""
        return written_time(self.at)

    @property
    def event(self) -> Event:
        """The event as its model. Raises EventUnreadable."""
        return event_of(self)


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


def written_time(at: datetime) -> str:
    """Return a moment of the broker's clock as it stands in the record."""
    return iso_time(Milliseconds((at - _EPOCH) // _MILLISECOND))
