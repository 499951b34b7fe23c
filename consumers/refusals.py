"""Refused requests: from the letters in the topic `dead` to rows."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

import structlog

from agentjournal.errors import AppendRejected
from agentjournal.ids import Milliseconds, Partition, Position, parse_stream
from agentjournal.requests import Request, RequestError, decode_request
from streams.ports import OutageError

_LOG = structlog.get_logger()
_MOST_PARTITION, _MOST_NUMBER = 2**31 - 1, 2**63 - 1  # what the columns hold


class Letter(NamedTuple):
    """A record of the topic `dead`."""

    position: Position
    timestamp_ms: Milliseconds
    key: bytes
    value: bytes
    headers: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A refused request; `partition` and `position` are its place in the topic `appends`."""

    partition: int
    position: int
    stream: str
    tenant: str | None
    session_id: str | None
    task_id: str | None
    reason: str
    path: str | None
    said: str | None
    expected_version: int | None
    actual_version: int | None
    append_id: str | None
    agent: str | None
    worker: str | None
    types: Sequence[str] | None
    events: int | None
    bytes: int
    recorded_at: datetime


class Letters(Protocol):
    """The topic `dead`."""

    async def assign(self, places: Mapping[Partition, Position]) -> None:
        """Read on from these places, other partitions of the topic from their beginning."""
        ...

    async def poll(self, *, timeout_s: float) -> Mapping[Partition, Sequence[Letter]]:
        """Return what has arrived, in order; empty after `timeout_s`. Raises OutageError."""
        ...


class RefusedRows(Protocol):
    """Where rows are kept, and the places up to which letters were read."""

    async def places(self) -> Mapping[Partition, Position]: ...

    async def store(
        self, partition: Partition, before: Position, after: Position, rows: Sequence[RefusedRow]
    ) -> bool:
        """Store rows and move the place in one go; False when somebody else had moved it."""
        ...


class Refusals:
    """Keeps the rows up to date; several at once do each other no harm."""

    def __init__(
        self, letters: Letters, rows: RefusedRows, *, poll_s: float = 0.2, pause_s: float = 0.5
    ) -> None:
        self._letters, self._rows = letters, rows
        self._poll_s, self._pause_s = poll_s, pause_s

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; wait where Kafka or Postgres is away."""
        while not stop.is_set():
            try:
                await self._read(stop)
            except OutageError as error:
                _LOG.warning("refusals_wait", reason=str(error))
                await asyncio.sleep(self._pause_s)

    async def _read(self, stop: asyncio.Event) -> None:
        """Read on from what is stored, until somebody else was faster."""
        places = dict(await self._rows.places())
        await self._letters.assign(places)
        while not stop.is_set():
            polled = await self._letters.poll(timeout_s=self._poll_s)
            for partition, letters in polled.items():
                before = places.get(partition, Position(0))
                after = Position(letters[-1].position + 1)
                rows = [row for letter in letters if (row := row_of(letter)) is not None]
                if not await self._rows.store(partition, before, after, rows):
                    return
                places[partition] = after


def row_of(letter: Letter) -> RefusedRow | None:
    """Return the row of a letter, None when it is not one of ours."""
    words = {name: _shown(value) for name, value in letter.headers.items()}
    partition = _number(words.get("partition"), _MOST_PARTITION)
    position, recorded_at = _number(words.get("position")), _moment(letter.timestamp_ms)
    if partition is None or position is None or recorded_at is None or not words.get("reason"):
        return None
    kind, tenant, named = _stream(letter.key)
    asked = _request(letter.value)
    types = None if asked is None else list(dict.fromkeys(_clean(e.type) for e in asked.events))
    return RefusedRow(
        partition=partition,
        position=position,
        stream=_shown(letter.key),
        tenant=tenant,
        session_id=named if kind == "session" else None,
        task_id=named if kind == "task" else None,
        reason=words["reason"],
        path=words.get("path"),
        said=words.get("text"),
        expected_version=_number(words.get("expected_version")),
        actual_version=_number(words.get("actual_version")),
        append_id=None if asked is None else _clean(asked.append_id),
        agent=None if asked is None or asked.agent is None else _clean(asked.agent),
        worker=None if asked is None or asked.worker is None else _clean(asked.worker),
        types=types,
        events=None if asked is None else len(asked.events),
        bytes=len(letter.value),
        recorded_at=recorded_at,
    )


def _moment(timestamp_ms: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(timestamp_ms / 1_000, UTC)
    except (OSError, OverflowError, ValueError):
        return None


def _request(value: bytes) -> Request | None:
    try:
        return decode_request(value)
    except RequestError:
        return None


def _stream(key: bytes) -> tuple[str, str | None, str | None]:
    try:
        return parse_stream(key.decode())
    except (UnicodeDecodeError, AppendRejected):
        return "", None, None


def _number(text: str | None, most: int = _MOST_NUMBER) -> int | None:
    # Compared by length first: Python refuses to convert very long ones.
    if not text or not text.isascii() or not text.isdecimal() or len(text) > len(str(most)):
        return None
    return number if (number := int(text)) <= most else None


def _shown(raw: bytes) -> str:
    return _clean(raw.decode("utf-8", "backslashreplace"))


def _clean(text: str) -> str:
    """Return a text as Postgres can hold it."""
    return text.replace("\0", "␀").encode("utf-8", "replace").decode()
