"""The meter's core: events in, rates and alerts out; no clock, and nothing that waits.

Time is the broker's, as it stands in each event. What it holds is bounded: of tenants, tools,
sessions and open calls beyond its capacity it counts how many it could not take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from agentjournal.alerts import Alert
from agentjournal.envelope import Recorded, iso_time
from agentjournal.ids import Milliseconds, Partition
from agentjournal.rates import Rates, TenantRates, ToolRates, Uncounted, duration_class
from streams.meter_alarms import Alarms
from streams.meter_calls import Call, OpenCalls
from streams.meter_sessions import Session, Sessions
from streams.meter_thresholds import Capacity, Thresholds
from streams.meter_windows import Counted, Window

_HAVE_SESSIONS = frozenset({"session", "task"})
_ENDINGS = frozenset({"session.ended", "session.expired", "session.deleted"})
_LONGEST_LEASE_S = 1e9  # beyond it nobody looks
_NEW_TRIGGERS = frozenset({"user", "schedule"})  # of a turn that is not the last one going on


class Meter:
    """Counts the events of some partitions, read in their order; repeats count once."""

    def __init__(self, thresholds: Thresholds | None = None, most: Capacity | None = None) -> None:
        self._thresholds, self._most = thresholds or Thresholds(), most or Capacity()
        self._tenants: dict[str, Window] = {}
        self._tools: dict[tuple[str, str], Window] = {}
        self._sessions = Sessions(self._most.sessions, self._thresholds.active_s)
        self._calls = OpenCalls(self._most.calls)
        self._alarms = Alarms()
        self._orders: dict[Partition, tuple[int, int]] = {}
        self._read_to_ms: dict[Partition, int] = {}
        self._uncounted: Counter[str] = Counter()

    def take(self, recorded: Recorded) -> None:
        """Count an event. Raises KeyError, TypeError or ValueError when it has not its fields."""
        if recorded.order <= self._orders.get(recorded.partition, (-1, -1)):
            return
        self._orders[recorded.partition] = recorded.order
        at_ms = _milliseconds(recorded.recorded_at)
        read_to_ms = self._read_to_ms.get(recorded.partition, 0)
        self._read_to_ms[recorded.partition] = max(read_to_ms, at_ms)
        kind, tenant = _kind_and_tenant(recorded.stream)
        window = self._window(self._tenants, tenant, self._most.tenants, "tenants")
        _count(window, at_ms, recorded, "events")
        if kind not in _HAVE_SESSIONS:
            return
        session = self._sessions.heard(recorded, tenant, at_ms)
        if recorded.type.startswith("tool."):
            self._tool(recorded, session, at_ms)
        elif recorded.type == "model.called":
            if window is not None:
                spent = recorded.data
                window.add(at_ms, "model", spent["input_tokens"] + spent["output_tokens"])
        else:
            self._session(recorded, session, window, at_ms)

    def refuse(self) -> None:
        """Count a record that is no event, or not a whole one."""
        self._uncounted["unreadable"] += 1

    def keep(self, partitions: Collection[Partition]) -> None:
        """Go on with these partitions only: what is open in others ends elsewhere."""
        self._sessions.keep(partitions)
        self._calls.keep(partitions)
        for known in [each for each in self._read_to_ms if each not in partitions]:
            del self._read_to_ms[known]

    def tick(self, now_ms: int, behind: Collection[Partition] = ()) -> Sequence[Alert]:
        """Return the alerts since the last time.

        `behind` are the partitions of which not everything was read that is there: in these, no
        call is taken for stuck because of an outcome that comes later.
        """
        self._look_for_storms(now_ms)
        self._look_for_failures(now_ms)
        self._look_for_stuck(now_ms, behind)
        return self._alarms.taken()

    def snapshot(self, now_ms: int) -> Rates:
        """Return what counts now, and forget tenants and tools of which nothing does."""
        active = self._sessions.active(now_ms)
        tenants = _sums(self._tenants, now_ms, active)
        return Rates(
            at=iso_time(Milliseconds(now_ms)),
            window_s=self._thresholds.window_s,
            active_s=self._thresholds.active_s,
            tenants=tuple(
                TenantRates(
                    tenant=tenant,
                    events=sums["events"],
                    tokens=sums["tokens"],
                    model_tokens=sums["model"],
                    sessions_started=sums["started"],
                    sessions_active=active[tenant],
                )
                for tenant, sums in sorted(tenants.items())
            ),
            tools=tuple(
                _tool_rates(key, sums)
                for key, sums in sorted(_sums(self._tools, now_ms, ()).items())
            ),
            uncounted=Uncounted(**self._uncounted, sessions=self._sessions.forgotten),
        )

    def _tool(self, recorded: Recorded, session: Session, at_ms: int) -> None:
        told = recorded.data
        if recorded.type == "tool.started":
            return self._started(recorded, told, session, at_ms)
        outcome = told["outcome"] if recorded.type == "tool.settled" else recorded.type[5:]
        call = self._calls.end(recorded.stream, told["call_id"])
        if call is None:
            self._uncounted["calls"] += 1
            return None
        window = self._window(self._tools, (call.tenant, call.tool), self._most.tools, "tools")
        _count(window, at_ms, recorded, "events")
        if window is not None:
            window.add(at_ms, outcome)
            window.add(at_ms, duration_class((at_ms - call.started_ms) / 1_000))
        return None

    def _started(self, recorded: Recorded, told: Any, session: Session, at_ms: int) -> None:
        tool, call_id = told["tool"], told["call_id"]
        window = self._window(self._tools, (session.tenant, tool), self._most.tools, "tools")
        _count(window, at_ms, recorded, "events")
        if window is not None:
            window.add(at_ms, "calls")
        until_ms = at_ms + _lease_ms(told)
        call = Call(
            recorded.stream,
            call_id,
            recorded.version,
            recorded.partition,
            session.tenant,
            tool,
            at_ms,
            until_ms,
            recorded.fence,
        )
        self._calls.begin(call, until_ms + round(self._thresholds.stuck_call_s * 1_000))
        repeats = session.repeat(tool, told["arguments_digest"], call_id, recorded.version)
        if repeats == self._thresholds.runaway_loop:
            self._alarms.raise_(
                ("runaway_loop", session.tenant, recorded.stream),
                text=f"{tool} was called {repeats} times in a row with the same arguments",
                at_ms=at_ms,
                value=repeats,
                threshold=self._thresholds.runaway_loop,
                began=str(session.since),
            )

    def _session(
        self, recorded: Recorded, session: Session, window: Window | None, at_ms: int
    ) -> None:
        match recorded.type:
            case "session.started" if window is not None:
                window.add(at_ms, "started")
            case "lease.acquired":
                session.acquire(recorded.version, at_ms, _lease_ms(recorded.data))
            case "lease.released":
                session.lease_until_ms = at_ms
            case "turn.started" if recorded.data["trigger"] in _NEW_TRIGGERS:
                session.interrupt()
            case ended if ended in _ENDINGS:
                self._sessions.forget(recorded.stream)
            case _:
                pass

    def _look_for_storms(self, now_ms: int) -> None:
        most = self._thresholds.session_storm
        for tenant, window in self._tenants.items():
            minute = window.sums(now_ms)["started"] * 60 / self._thresholds.window_s
            self._alarms.level(
                ("session_storm", tenant, tenant),
                text=f"{minute:.0f} sessions a minute begin, more than {most:g}",
                at_ms=now_ms,
                value=minute,
                threshold=most,
            )

    def _look_for_failures(self, now_ms: int) -> None:
        for (tenant, tool), window in self._tools.items():
            sums = window.sums(now_ms)
            outcomes = sums["completed"] + sums["failed"]
            if not outcomes:
                self._alarms.end(("error_rate", tenant, tool))
            if outcomes < self._thresholds.error_calls:
                continue
            rate = sums["failed"] / outcomes
            self._alarms.level(
                ("error_rate", tenant, tool),
                text=f"{sums['failed']} of {outcomes} calls of {tool} failed ({rate:.0%})",
                at_ms=now_ms,
                value=rate,
                threshold=self._thresholds.error_rate,
            )

    def _look_for_stuck(self, now_ms: int, behind: Collection[Partition]) -> None:
        def read_to_ms(partition: Partition) -> int:
            return self._read_to_ms.get(partition, 0) if partition in behind else now_ms

        margin_ms = round(self._thresholds.stuck_call_s * 1_000)
        for call in self._calls.due(now_ms, read_to_ms):
            session = self._sessions.get(call.stream)
            if session is not None and session.holds(call.fence, now_ms - margin_ms):
                self._calls.again(call, session.lease_until_ms + margin_ms)
                continue
            past_s = (now_ms - call.lease_until_ms) / 1_000
            self._alarms.raise_(
                ("stuck_call", call.tenant, call.stream),
                text=f"{call.tool}, call {call.call_id}, is open {past_s:.0f} s past its lease",
                at_ms=now_ms,
                value=past_s,
                threshold=self._thresholds.stuck_call_s,
                began=str(call.version),
            )

    def _window(self, windows: dict[Any, Window], key: Any, most: int, kind: str) -> Window | None:
        window = windows.get(key)
        if window is None:
            if len(windows) >= most:
                self._uncounted[kind] += 1
                return None
            window = windows[key] = Window(self._thresholds.window_s)
        return window


def _count(window: Window | None, at_ms: int, recorded: Recorded, what: str) -> None:
    if window is not None:
        window.add(at_ms, what)
        if recorded.tokens:
            window.add(at_ms, "tokens", recorded.tokens)


def _sums(
    windows: dict[Any, Window], now_ms: int, wanted: Collection[Any] | Mapping[Any, int]
) -> dict[Any, Counter[Counted]]:
    """Return what counts, by key; without it a window is dropped, unless its key is wanted."""
    found = {key: window.sums(now_ms) for key, window in windows.items()}
    for key in [key for key, sums in found.items() if not sums and key not in wanted]:
        del found[key], windows[key]
    return found


def _tool_rates(key: tuple[str, str], sums: Counter[Counted]) -> ToolRates:
    return ToolRates(
        *key,
        events=sums["events"],
        tokens=sums["tokens"],
        calls=sums["calls"],
        completed=sums["completed"],
        failed=sums["failed"],
        durations=tuple(sorted((n, count) for n, count in sums.items() if isinstance(n, int))),
    )


def _lease_ms(told: Any) -> int:
    lease_s: float = told["lease_s"]
    return round(min(lease_s, _LONGEST_LEASE_S) * 1_000)


@lru_cache(maxsize=4_096)
def _kind_and_tenant(stream: str) -> tuple[str, str]:
    kind, tenant, _ = stream.split("/", 2)
    return kind, unquote(tenant)


@lru_cache(maxsize=4_096)  # events that were appended together have one time
def _milliseconds(recorded_at: str) -> int:
    return round(datetime.fromisoformat(recorded_at).timestamp() * 1_000)
