"""Events for the meter: as the log records them, without the envelope's rest."""

from __future__ import annotations

import itertools
from typing import Any

import orjson

import agentjournal as aj
from agentjournal.envelope import Recorded, iso_time
from agentjournal.events import Event
from agentjournal.ids import Milliseconds, Partition, Position, StreamId, Version

START_MS = 1_800_000_000_000  # when the tests' events begin


class Writer:
    """Numbers the events of streams, all in one partition unless it is said otherwise."""

    def __init__(self, stream: str = "session/acme/s-1") -> None:
        self.stream = stream
        self._positions = itertools.count()
        self._versions: dict[str, int] = {}

    def of(
        self,
        event: Event | tuple[str, dict[str, Any]],
        at_s: float = 0.0,
        *,
        stream: str | None = None,
        fence: int | None = None,
        tokens: int | None = None,
        partition: int = 0,
    ) -> Recorded:
        """Return an event as it is recorded so many seconds after the beginning."""
        if isinstance(event, tuple):
            kind, fields = event
        else:
            kind, fields = event.type, event.model_dump(mode="json", exclude_none=True)
        name = stream or self.stream
        version = self._versions[name] = self._versions.get(name, 0) + 1
        position = Position(next(self._positions))
        return Recorded(
            stream=StreamId(name),
            version=Version(version),
            type=kind,
            raw_data=orjson.dumps(fields),
            id=f"e-{position}",
            source="/acme/support",
            schema_version=1,
            data_encoding="json",
            append_id=f"a-{position}",
            batch_index=0,
            batch_size=1,
            input_position=position,
            recorded_at=iso_time(Milliseconds(at_ms(at_s))),
            rules=1,
            prevhash="",
            hash="",
            tokens=tokens,
            fence=fence,
            partition=Partition(partition),
            position=position,
        )


def at_ms(at_s: float) -> int:
    """Return the time so many seconds after the beginning."""
    return START_MS + round(at_s * 1_000)


def started(
    call_id: str, *, tool: str = "look_up", lease_s: float = 60, digest: str = "d", attempt: int = 1
) -> aj.ToolStarted:
    """Return the beginning of a call."""
    return aj.ToolStarted(
        call_id=call_id,
        tool=tool,
        arguments_text="{}",
        arguments_digest=digest,
        effect="read",
        idempotency_key=call_id,
        attempt=attempt,
        lease_s=lease_s,
    )


def completed(call_id: str) -> aj.ToolCompleted:
    """Return that a call ended well."""
    return aj.ToolCompleted(call_id=call_id, output="", duration_ms=1)


def failed(call_id: str) -> aj.ToolFailed:
    """Return that a call ended badly."""
    return aj.ToolFailed(
        call_id=call_id, error=aj.ToolFailure(type="error", message="no", retryable=False)
    )
