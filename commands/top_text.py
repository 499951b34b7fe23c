"""The screen of `top` as lines of text, from figures alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentjournal.alerts import Alert
from agentjournal.rates import Rates
from commands.alert_lines import alert_line
from commands.harmless import one_line
from commands.printing import Column, aligned
from commands.times import date_and_clock
from commands.top_figures import ACTIVE_S, ReadModels, Snapshot, Trouble
from commands.top_tables import LAGS, TENANTS, TOOLS, lag_rows, tenant_rows, tool_rows

Style: TypeAlias = Literal["plain", "names", "trouble"]

_MOST_ROWS = 20  # of a table, where there is room for all
_WIDE = 200
_NOT_YET = "…"
_NOT_COUNTED = "?"
_STATUSES = ("open", "ended", "expired", "deleted")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the screen."""

    text: str
    style: Style = "plain"


@dataclass(frozen=True, slots=True)
class _Table:
    names: Line
    rows: Sequence[Line]

    def lines(self, most: int) -> Iterator[Line]:
        """Yield it in at most so many rows; what is left out is said."""
        yield Line("")
        yield self.names
        if len(self.rows) <= most:
            yield from self.rows
        elif most:
            yield from self.rows[: most - 1]
            yield Line(f"… {len(self.rows) - most + 1} more")


def screen(snapshot: Snapshot, *, width: int = _WIDE, height: int | None = None) -> list[Line]:
    """Return the lines of a screen of this size; without a height, tables have 20 rows at most."""
    top = [
        Line(f"agentjournal  {date_and_clock(snapshot.at)}", "names"),
        *_read_model_lines(snapshot.read_models),
        *_rate_lines(snapshot.rates),
    ]
    tables: list[_Table] = []
    match snapshot.alerts:
        case Trouble(text):
            top.append(Line(f"alerts     {text}", "trouble"))
        case tuple(alerts) if alerts:
            tables.append(_alert_table(alerts, width))
        case found:
            top.append(Line(f"alerts     {_NOT_YET if found is None else 'there are none'}"))
    if isinstance(snapshot.read_models, ReadModels) and snapshot.read_models.projections:
        tables.append(_table(LAGS, lag_rows(snapshot.read_models.projections)))
    if isinstance(snapshot.rates, Rates):
        tables.append(_table(TOOLS, tool_rows(snapshot.rates)))
        tables.append(_table(TENANTS, tenant_rows(snapshot.rates)))
    tables = [table for table in tables if table.rows]
    room = None if height is None else height - len(top) - 2 * len(tables)
    for table, most in zip(tables, shares(room, [len(t.rows) for t in tables]), strict=True):
        top.extend(table.lines(most))
    return top


def shares(room: int | None, wanted: Sequence[int]) -> list[int]:
    """Return how many rows each table has: as many as the others, unless it wants fewer."""
    if room is None:
        return [min(_MOST_ROWS, each) for each in wanted]
    given = [0] * len(wanted)
    while room > 0 and given != list(wanted):
        for at, each in enumerate(wanted):
            if room > 0 and given[at] < each:
                given[at] += 1
                room -= 1
    return given


def _read_model_lines(found: ReadModels | Trouble | None) -> Iterator[Line]:
    if isinstance(found, Trouble):
        yield Line(f"sessions   {found.text}", "trouble")
        return
    if found is None:
        yield Line(f"sessions   {_NOT_YET}")
        return
    yield Line(f"sessions   {_sessions(found)}")
    yield Line(
        f"work       {_many(found.runnable, 'session')} runnable, "
        f"{_many(found.leases, 'lease')} live, {_many(found.approvals, 'approval')} waiting, "
        f"{_many(found.unknown, 'outcome')} unknown"
    )
    letters, last_hour = (
        (None, None)
        if found.dead_letters is None
        else (found.dead_letters.all, found.dead_letters.last_hour)
    )
    parked = None if found.projections is None else sum(each.parked for each in found.projections)
    yield Line(
        f"refused    {_many(letters, 'dead letter')}, "
        f"{_number(last_hour)} in the last hour; "
        f"{_many(parked, 'stream')} parked"
    )


def _sessions(found: ReadModels) -> str:
    counts = found.sessions
    if counts is None:
        about = found.sessions_about
        if about is None:
            return _NOT_COUNTED
        return f"about {about:,}, as the planner estimates: counting them takes too long"
    statuses = [
        *_STATUSES,
        *sorted(status for status in counts.by_status if status not in _STATUSES),
    ]
    told = [f"{counts.by_status.get(status, 0):,} {one_line(status)}" for status in statuses]
    return ", ".join([*told, f"{counts.active:,} active in the last {ACTIVE_S // 60} minutes"])


def _rate_lines(found: Rates | Trouble | None) -> Iterator[Line]:
    match found:
        case None:
            yield Line(f"rates      {_NOT_YET}")
        case Trouble(text):
            yield Line(f"rates      {text}", "trouble")
        case Rates():
            yield Line(f"rates      {_rates(found)}")
            lost = found.uncounted
            if lost.unreadable or lost.tenants or lost.tools or lost.sessions or lost.calls:
                yield Line(
                    f"           too low: {_many(lost.unreadable, 'record')} unreadable, "
                    f"{_many(lost.tenants, 'event')} of tenants beyond the most, "
                    f"{lost.tools:,} of tools; {_many(lost.sessions, 'session')} and "
                    f"{_many(lost.calls, 'open call')} forgotten",
                    "trouble",
                )


def _rates(found: Rates) -> str:
    events = found.a_minute(sum(each.events for each in found.tenants))
    tokens = found.a_minute(sum(each.tokens for each in found.tenants))
    begun = found.a_minute(sum(each.sessions_started for each in found.tenants))
    active = sum(each.sessions_active for each in found.tenants)
    return (
        f"{events:,.0f} events, {tokens:,.0f} tokens, {begun:,.0f} new sessions a minute; "
        f"{active:,} active within {found.active_s:g} s; about, over {found.window_s:g} s"
    )


def _alert_table(alerts: Sequence[Alert], width: int) -> _Table:
    latest_first = [
        Line(alert_line(alert, width), "trouble" if alert.severity == "critical" else "plain")
        for alert in reversed(alerts)
    ]
    return _Table(Line("alerts, the latest first", "names"), latest_first)


def _table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> _Table:
    names, *lines = aligned(columns, rows)
    return _Table(Line(names, "names"), [Line(line) for line in lines])


def _many(count: int | None, thing: str) -> str:
    return f"{_number(count)} {thing}{'' if count == 1 else 's'}"


def _number(count: int | None) -> str:
    return _NOT_COUNTED if count is None else f"{count:,}"
