"""The tables of `top`: the worst and the busiest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentjournal.rates import Rates
from commands.printing import Column
from commands.times import lasting
from commands.top_figures import Lag

LAGS = (
    Column("projection"),
    Column("events behind", "right"),
    Column("seconds behind", "right"),
    Column("parked", "right"),
)
TOOLS = (
    Column("tool"),
    Column("tenant"),
    Column("calls/min", "right"),
    Column("completed", "right"),
    Column("failed", "right"),
    Column("failing", "right"),
    Column("p50", "right"),
    Column("p95", "right"),
)
TENANTS = (
    Column("tenant"),
    Column("events/min", "right"),
    Column("tokens/min", "right"),
    Column("model tokens/min", "right"),
    Column("new sessions/min", "right"),
    Column("active", "right"),
)


def lag_rows(lags: Iterable[Lag]) -> list[Sequence[str]]:
    """Return a row a projection, those that are parked or behind first."""
    worst_first = sorted(lags, key=lambda lag: (-lag.parked, -lag.events_behind, lag.projection))
    return [
        (
            lag.projection,
            f"{lag.events_behind:,}",
            "-" if lag.seconds_behind is None else f"{lag.seconds_behind:,.1f}",
            f"{lag.parked:,}",
        )
        for lag in worst_first
    ]


def tool_rows(rates: Rates) -> list[Sequence[str]]:
    """Return a row a tool, the busiest first."""
    busiest_first = sorted(rates.tools, key=lambda tool: (-tool.calls, tool.tool, tool.tenant))
    return [
        (
            tool.tool,
            tool.tenant,
            f"{rates.a_minute(tool.calls):,.0f}",
            f"{tool.completed:,}",
            f"{tool.failed:,}",
            "-" if tool.error_rate is None else f"{tool.error_rate:.0%}",
            _lasting(tool.p50_s),
            _lasting(tool.p95_s),
        )
        for tool in busiest_first
    ]


def tenant_rows(rates: Rates) -> list[Sequence[str]]:
    """Return a row a tenant, the busiest first."""
    busiest_first = sorted(rates.tenants, key=lambda tenant: (-tenant.events, tenant.tenant))
    return [
        (
            tenant.tenant,
            f"{rates.a_minute(tenant.events):,.0f}",
            f"{rates.a_minute(tenant.tokens):,.0f}",
            f"{rates.a_minute(tenant.model_tokens):,.0f}",
            f"{rates.a_minute(tenant.sessions_started):,.0f}",
            f"{tenant.sessions_active:,}",
        )
        for tenant in busiest_first
    ]


def _lasting(seconds: float | None) -> str:
    return "-" if seconds is None else lasting(seconds * 1_000)
