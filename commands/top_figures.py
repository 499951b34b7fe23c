"""What `top` shows: figures of each server, or why there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

from agentjournal.alerts import Alert
from agentjournal.rates import Rates, ToolRates

ACTIVE_S: Final = 300  # a session with an event within it counts as active


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why there are no figures."""

    text: str


@dataclass(frozen=True, slots=True)
class SessionCounts:
    """How many sessions there are, of all tenants."""

    by_status: Mapping[str, int]
    active: int


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """How many requests were refused for good."""

    all: int
    last_hour: int


@dataclass(frozen=True, slots=True)
class Lag:
    """How far a projection is behind the log."""

    projection: str
    events_behind: int
    seconds_behind: float | None  # None: it has read nothing yet
    parked: int  # streams that it stopped at


@dataclass(frozen=True, slots=True)
class ReadModels:
    """What Postgres knows; None is what took too long to count."""

    sessions: SessionCounts | None = None
    sessions_about: int | None = None  # the planner's estimate, where they were not counted
    runnable: int | None = None
    leases: int | None = None
    approvals: int | None = None
    unknown: int | None = None
    dead_letters: DeadLetters | None = None
    projections: tuple[Lag, ...] | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All figures of a moment; None is what was not read yet."""

    at: datetime
    read_models: ReadModels | Trouble | None = None
    rates: Rates | Trouble | None = None
    alerts: tuple[Alert, ...] | Trouble | None = None  # the latest last


def for_programs(snapshot: Snapshot) -> dict[str, Any]:
    """Return all figures for programs; `trouble` says why some are missing."""
    read_models, rates, alerts = snapshot.read_models, snapshot.rates, snapshot.alerts
    parts = {"read_models": read_models, "rates": rates, "alerts": alerts}
    return {
        "at": snapshot.at.astimezone(UTC),
        "active_s": ACTIVE_S,
        "read_models": asdict(read_models) if isinstance(read_models, ReadModels) else None,
        "rates": _rates(rates) if isinstance(rates, Rates) else None,
        "alerts": list(map(asdict, alerts)) if isinstance(alerts, tuple) else None,
        "trouble": {name: part.text for name, part in parts.items() if isinstance(part, Trouble)},
    }


def _rates(rates: Rates) -> dict[str, Any]:
    found = asdict(rates)
    found["tools"] = [_tool(tool) for tool in rates.tools]
    return found


def _tool(tool: ToolRates) -> dict[str, Any]:
    found = asdict(tool)
    del found["durations"]  # classes of a scale of their own
    return found | {"error_rate": tool.error_rate, "p50_s": tool.p50_s, "p95_s": tool.p95_s}
