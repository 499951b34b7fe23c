"""Rates: what the meter counted in the last moments, by tenant and by tool.

They are approximate: events are counted at least once, and a meter that starts knows nothing of
what came before. Nothing but a screen may rest on them; what is true is in SQL.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

# Durations are counted in classes, each this much longer than the one before: a percentile is
# right within a tenth, and those of several meters can be taken together.
_GROWTH = 1.2
_SHORTEST_S = 0.001
_LAST_CLASS = 100  # 23 hours and more


@dataclass(frozen=True, slots=True)
class TenantRates:
    """What the sessions and tasks of a tenant did."""

    tenant: str
    events: int  # in the window
    tokens: int  # of the text of these events, as their writers counted
    model_tokens: int  # input and output of its model calls
    sessions_started: int  # in the window
    sessions_active: int  # with an event within `active_s`


@dataclass(frozen=True, slots=True)
class ToolRates:
    """What one tool of a tenant did in the window."""

    tenant: str
    tool: str
    events: int  # calls begun, and outcomes
    tokens: int  # of the text of these events
    calls: int  # begun
    completed: int
    failed: int
    durations: tuple[tuple[int, int], ...] = ()  # (class, how many), from call to outcome

    @property
    def error_rate(self) -> float | None:
        """The share of the outcomes that are failures; None: there was no outcome."""
        outcomes = self.completed + self.failed
        return self.failed / outcomes if outcomes else None

    @property
    def p50_s(self) -> float | None:
        """The seconds from call to outcome that half of the calls took no longer than."""
        return percentile_s(self.durations, 0.5)

    @property
    def p95_s(self) -> float | None:
        """The seconds from call to outcome that 95 of 100 calls took no longer than."""
        return percentile_s(self.durations, 0.95)


@dataclass(frozen=True, slots=True)
class Uncounted:
    """What a meter could not take, since it was started: figures are too low by this much."""

    unreadable: int = 0  # records that are none of ours, or are damaged
    tenants: int = 0  # events of tenants beyond the most that are kept apart
    tools: int = 0  # events of tools beyond the most
    sessions: int = 0  # sessions forgotten while they were active
    calls: int = 0  # open calls forgotten: their outcomes count, their durations do not


@dataclass(frozen=True, slots=True)
class Rates:
    """A snapshot of all that is metered; `of_members` puts those of several meters together."""

    at: str  # ISO 8601, the end of the window
    window_s: float
    active_s: float
    tenants: tuple[TenantRates, ...] = ()
    tools: tuple[ToolRates, ...] = ()
    uncounted: Uncounted = Uncounted()

    def a_minute(self, count: int) -> float:
        """Return a count of the window as so many a minute."""
        return count * 60 / self.window_s


def duration_class(seconds: float) -> int:
    """Return the class that a duration is counted in."""
    if seconds <= _SHORTEST_S:
        return 0
    return min(_LAST_CLASS, math.ceil(math.log(seconds / _SHORTEST_S, _GROWTH)))


def percentile_s(durations: Iterable[tuple[int, int]], share: float) -> float | None:
    """Return about how long the quickest `share` of what was counted took at most."""
    ordered = sorted(durations)
    left = share * sum(count for _, count in ordered)
    for number, count in ordered:
        left -= count
        if left <= 0:
            # The middle of the class; of the first one its end.
            return _SHORTEST_S * _GROWTH ** (number - 0.5 if number else 0)
    return None


def encode_rates(rates: Rates) -> bytes:
    """Return a snapshot as JSON."""
    return orjson.dumps(rates)


def decode_rates(raw: bytes) -> Rates:
    """Return the snapshot; fields of later releases are left out. Raises ValueError."""
    try:
        found: Any = orjson.loads(raw)
        return Rates(
            at=found["at"],
            window_s=found["window_s"],
            active_s=found["active_s"],
            tenants=tuple(TenantRates(**_own(TenantRates, each)) for each in found["tenants"]),
            tools=tuple(_tool(each) for each in found["tools"]),
            uncounted=Uncounted(**_own(Uncounted, found["uncounted"])),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"it is no snapshot of rates: {error!r}") from None


def of_members(found: Sequence[Rates]) -> Rates | None:
    """Return the rates of all meters together; None where there is none.

    Each reads partitions of its own, so a session is counted by one of them.
    """
    if not found:
        return None
    tenants: dict[str, list[TenantRates]] = {}
    tools: dict[tuple[str, str], list[ToolRates]] = {}
    for rates in found:
        for tenant in rates.tenants:
            tenants.setdefault(tenant.tenant, []).append(tenant)
        for tool in rates.tools:
            tools.setdefault((tool.tenant, tool.tool), []).append(tool)
    last = max(found, key=lambda rates: rates.at)
    return Rates(
        at=last.at,
        window_s=last.window_s,
        active_s=last.active_s,
        tenants=tuple(
            TenantRates(tenant, **_sums(tenants[tenant], TenantRates)) for tenant in sorted(tenants)
        ),
        tools=tuple(_tool_of(key, tools[key]) for key in sorted(tools)),
        uncounted=Uncounted(**_sums([rates.uncounted for rates in found], Uncounted)),
    )


_NO_COUNTS = {"tenant", "tool", "durations"}


def _sums(parts: Sequence[Any], of: type[Any]) -> dict[str, int]:
    names = [name for name in of.__dataclass_fields__ if name not in _NO_COUNTS]
    return {name: sum(getattr(part, name) for part in parts) for name in names}


def _tool_of(key: tuple[str, str], parts: Sequence[ToolRates]) -> ToolRates:
    counts: Any = _sums(parts, ToolRates)
    return ToolRates(*key, **counts, durations=_durations(parts))


def _durations(tools: Sequence[ToolRates]) -> tuple[tuple[int, int], ...]:
    counts = Counter[int]()
    for tool in tools:
        counts.update(dict(tool.durations))
    return tuple(sorted(counts.items()))


def _tool(found: dict[str, Any]) -> ToolRates:
    fields = _own(ToolRates, found)
    fields["durations"] = tuple((int(number), int(count)) for number, count in fields["durations"])
    return ToolRates(**fields)


def _own(of: type[Any], found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name in of.__dataclass_fields__}
