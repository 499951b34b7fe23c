"""A row of `agentjournal.events` as the log gives it, and its digest.

`verify.sql` makes the same digest of a stored row; a digest over a stream is that of the digests of
its rows, in the order of versions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from agentjournal.envelope import Recorded

_EPOCH = datetime.fromtimestamp(0, UTC)
_MICROSECOND = timedelta(microseconds=1)

# The columns in the order of the digest; `raw_data` comes after them.
COLUMNS = (
    "version",
    "partition",
    "position",
    "input_position",
    "batch_index",
    "batch_size",
    "type",
    "schema_version",
    "event_id",
    "append_id",
    "source",
    "agent",
    "worker",
    "time",
    "recorded_at_us",
    "tokens",
    "correlation_id",
    "causation_id",
    "traceparent",
    "fence",
    "hash",
)
_BETWEEN, _NULL = "\x1f", "\x18"


def row_of(recorded: Recorded) -> dict[str, Any]:
    """Return the row that the event has, without `raw_data`."""
    at = datetime.fromisoformat(recorded.recorded_at)
    row = {name: getattr(recorded, name, None) for name in COLUMNS}
    return {**row, "event_id": recorded.id, "recorded_at_us": (at - _EPOCH) // _MICROSECOND}


def row_digest(recorded: Recorded) -> bytes:
    """Return the digest of the row that the event has."""
    values = row_of(recorded).values()
    text = _BETWEEN.join([_NULL if value is None else str(value) for value in values])
    return hashlib.sha256(text.encode() + recorded.raw_data).digest()


def other_columns(recorded: Recorded, stored: Mapping[str, Any]) -> list[str]:
    """Return the names of the columns in which a stored row is not that of the event."""
    row = {**row_of(recorded), "raw_data": recorded.raw_data}
    return [_SHOWN.get(name, name) for name, value in row.items() if stored[name] != value]


_SHOWN = {"recorded_at_us": "recorded_at"}
