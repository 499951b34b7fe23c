"""Sessions of a log in memory that need a worker."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from agentjournal.envelope import Recorded
from agentjournal.ids import stream_id
from agentjournal.ports import Runnable
from agentjournal.state import SessionState
from agentjournal.testing.world import World
from agentjournal.turns import inbox

Row = Mapping[str, Any]
_ANSWERS = (
    ("approval", "approvals", "answered_version"),
    ("input", "inputs", "answered_version"),
    ("handoff", "handoffs", "ended_version"),
)
_NEVER = "9999"  # a year that no turn says it goes on in
_ENDS = frozenset({"completed", "failed", "limit"})


class MemoryWork:
    """Finds work: as the view `runnable` says."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def runnable(
        self, tenant: str, agent: str, as_of: datetime, *, without: Collection[str], most: int
    ) -> list[Runnable]:
        """Return sessions that need a worker, the longest waiting first."""
        found: list[tuple[datetime, Runnable]] = []
        for work in self._world.cores.rows("work"):
            session_id = work["session_id"]
            is_ours = work["tenant"] == tenant and _agent(work) == agent
            if not is_ours or session_id in without or work.get("status") != "open":
                continue
            events = self._world.streams[stream_id("session", tenant, session_id)]
            if self._is_held(tenant, session_id, as_of):
                continue
            for reason, version, due_at in self._reasons(work, events):
                if due_at is None or due_at <= as_of:
                    since = due_at or datetime.fromisoformat(events[version - 1].recorded_at)
                    head_version = events[-1].version
                    found.append((since, Runnable(session_id, reason, version, head_version)))
                    break
        found.sort(key=lambda each: (each[0], each[1].session_id))
        return [each for _, each in found[:most]]

    def _reasons(
        self, work: Row, events: list[Recorded]
    ) -> Iterator[tuple[str, int, datetime | None]]:
        get = work.get
        if get("turn_id"):
            yield "turn", work["started_version"], None
        if get("unseen_version"):
            yield "message", work["unseen_version"], None
        elif get("rewound_version"):
            yield from (("message", version, None) for version in _left(events))
        if get("turn_reason") == "waiting":
            yield from self._answers(work)
        for row in self._of("handoffs", work) if get("to_agent") else ():
            is_open = row.get("accepted_version") is None and row.get("outcome") is None
            if row.get("mode") == "transfer" and is_open:
                yield "handoff", row["requested_version"], None
        if not get("turn_id") and get("due_at"):
            yield "resume", work["ended_version"], _time(work["due_at"])
        yield from self._retries(work)

    def _answers(self, work: Row) -> Iterator[tuple[str, int, datetime | None]]:
        """Yield what came, or passes, since a turn ended that waits."""
        ended = work["ended_version"]
        for reason, table, column in _ANSWERS:
            for row in self._of(table, work):
                asked, answered = row.get("requested_version"), row.get(column)
                if asked is not None and answered is not None and answered > max(ended, asked):
                    yield reason, answered, None
        for row in self._of("handoffs", work) if work.get("handed_version") else ():
            if self._is_to_be_delivered(row):
                yield "handoff", row["requested_version"], None
        if (work.get("settled_version") or 0) > ended:
            yield "call", work["settled_version"], None
        for row in self._of("approvals", work):
            expires_at = row.get("expires_at")
            if expires_at is not None and row.get("outcome") is None:
                yield "approval", row["requested_version"], _time(expires_at)

    def _is_to_be_delivered(self, handoff: Row) -> bool:
        """Whether the session of a delegate is to be begun, or its result to be brought back."""
        child_id = handoff.get("child_session_id")
        if handoff.get("mode") != "delegate" or handoff.get("outcome") or not child_id:
            return False
        whose = {"tenant": handoff["tenant"], "session_id": child_id}
        child = next(self._of("work", whose), None)
        if child is None or child.get("status") not in {None, "open"}:
            return True
        goes_on = str(child.get("due_at") or _NEVER) < _NEVER
        return not child.get("turn_id") and child.get("turn_reason") in _ENDS and not goes_on

    def _retries(self, work: Row) -> Iterator[tuple[str, int, datetime]]:
        plans = {p["plan_id"]: p for p in self._of("plans", work) if p.get("status") == "open"}
        for step in self._of("steps", work):
            plan, ended = plans.get(step["plan_id"], {}), step.get("ended_version")
            is_left = (step.get("outcome"), step.get("planned_version")) == (
                *("failed", plan.get("planned_version")),
            )
            after = max(step.get("skipped_version") or 0, step.get("rolled_back_version") or 0)
            if is_left and ended is not None and after < ended and step.get("retry_at"):
                yield "retry", ended, _time(step["retry_at"])

    def _is_held(self, tenant: str, session_id: str, as_of: datetime) -> bool:
        whose = {"tenant": tenant, "session_id": session_id}
        leases = [each for each in self._of("leases", whose) if each.get("acquired_at")]
        last = max(leases, key=lambda each: each["fence"], default=None)
        if last is None or last.get("released_at"):
            return False
        written = max(last[name] for name in ("acquired_at", "extended_at") if last.get(name))
        try:
            return as_of < _time(written) + timedelta(milliseconds=round(last["lease_s"] * 1_000))
        except OverflowError:
            return True

    def _of(self, table: str, whose: Row) -> Iterator[Row]:
        key = whose["tenant"], whose["session_id"]
        rows = self._world.cores.rows(table)
        return (row for row in rows if (row["tenant"], row.get("session_id")) == key)


def _agent(work: Row) -> str | None:
    return work.get("to_agent") or work.get("agent")


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _left(events: list[Recorded]) -> Iterator[int]:
    """Yield the version of the user's message that a rewind left at the end."""
    state = SessionState(events[0].stream)
    for recorded in events:
        state.apply(recorded)
    yield from (message.version for message in inbox(state)[-1:])
