"""The read models of a log in memory: they are never behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime
from typing import Any

from agentjournal.artifacts import Artifacts
from agentjournal.envelope import Recorded
from agentjournal.ids import Partition, Position, StreamId, Version
from agentjournal.offloading import whole, whole_page
from agentjournal.ports import SessionInfo
from agentjournal.receipts import Receipt
from agentjournal.stored import Page, stored_event
from agentjournal.testing.world import World


class MemoryViews:
    """Streams and sessions."""

    def __init__(self, world: World, artifacts: Artifacts | None) -> None:
        self._world, self._artifacts = world, artifacts

    async def read_stream(
        self, stream: StreamId, *, after: int = 0, most: int | None = None
    ) -> AsyncGenerator[Recorded]:
        """Yield the events of a stream with version > `after`, in order."""
        for recorded in self._events(stream, after, most):
            yield await whole(recorded, self._artifacts)

    async def read_pages(
        self, stream: StreamId, *, after: int = 0, most: int | None = None
    ) -> AsyncGenerator[Page]:
        """Yield the events of a stream with version > `after`, and where it ends."""
        head = await self.head(stream)
        if head is not None:
            events = [stored_event(each) for each in self._events(stream, after, most)]
            yield await whole_page(Page(*head, events), self._artifacts)

    async def head(self, stream: StreamId) -> tuple[Version, str] | None:
        """Return (version, hash) of the stream's last event, None when it has none."""
        events = self._world.streams.get(stream)
        return (events[-1].version, events[-1].hash) if events else None

    async def wait_for_input(
        self, receipt: Receipt, timeout_s: float, *, projections: Sequence[str] | None = None
    ) -> None:
        """Return: what is acknowledged shows."""

    async def wait_for_output(
        self,
        partition: Partition,
        position: Position,
        timeout_s: float,
        *,
        projections: Sequence[str] | None = None,
    ) -> None:
        """Return: what is in the log shows."""

    async def sessions(
        self, *, tenant: str, user: str | None, status: str | None, limit: int, after: str | None
    ) -> list[SessionInfo]:
        """Return sessions, the latest active first, those behind session `after` if it is given."""
        rows = [row for row in self._world.cores.rows("sessions") if row["tenant"] == tenant]
        rows.sort(key=_place, reverse=True)
        if after is not None:
            last = next((_place(row) for row in rows if row["session_id"] == after), None)
            rows = [] if last is None else [row for row in rows if _place(row) < last]
        open_calls = self._open_calls(tenant)
        infos = [_info(row, open_calls) for row in rows]
        return [info for info in infos if _is_asked_for(info, user, status)][:limit]

    async def close(self) -> None:
        """Nothing is open."""

    def _events(self, stream: StreamId, after: int, most: int | None) -> list[Recorded]:
        return self._world.streams.get(stream, [])[after:][:most]  # versions count from 1

    def _open_calls(self, tenant: str) -> Counter[str]:
        calls = self._world.cores.rows("tool_calls")
        return Counter(
            call["session_id"]
            for call in calls
            if call["tenant"] == tenant and call.get("outcome") is None
        )


def _place(session: Mapping[str, Any]) -> tuple[str, str]:
    return session["last_activity_at"], session["session_id"]


def _info(session: Mapping[str, Any], open_calls: Counter[str]) -> SessionInfo:
    get, started_at = session.get, session.get("started_at")
    return SessionInfo(
        tenant=session["tenant"],
        session_id=session["session_id"],
        user_id=get("user_id"),
        agent=get("agent"),
        title=get("title"),
        status=get("status") or "open",
        started_at=None if started_at is None else datetime.fromisoformat(started_at),
        last_activity_at=datetime.fromisoformat(session["last_activity_at"]),
        version=session["version"],
        messages=get("messages") or 0,
        input_tokens=get("input_tokens") or 0,
        output_tokens=get("output_tokens") or 0,
        open_calls=open_calls[session["session_id"]],
    )


def _is_asked_for(info: SessionInfo, user: str | None, status: str | None) -> bool:
    return user in (None, info.user_id) and status in (None, info.status)


class MemoryEnds:
    """Where the log ends."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def end_of(
        self,
        partition: Partition,
        *,
        timeout_s: float = 5.0,  # noqa: ARG002 - of the port
    ) -> Position:
        """Return the position after the last event."""
        return Position(len(self._world.events[partition]))

    async def close(self) -> None:
        """Nothing is open."""
