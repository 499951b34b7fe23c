"""The screen of `top` from given figures: its exact text, what it leaves out, what is harmless."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from agentjournal.alerts import Alert, raised
from agentjournal.rates import Rates, TenantRates, ToolRates, Uncounted
from agentjournal.settings import Settings
from commands.top_figures import (
    DeadLetters,
    Lag,
    ReadModels,
    SessionCounts,
    Snapshot,
    Trouble,
    for_programs,
)
from commands.top_pace import Pace
from commands.top_reading import Watch, sources_of
from commands.top_screen import drawn
from commands.top_text import screen, shares

AT = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(os.environ, "TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def alert(number: int, text: str = "open past its lease") -> Alert:
    return raised(
        "stuck_call" if number % 2 else "error_rate",
        tenant="acme",
        subject=f"session/acme/s-{number}",
        text=text,
        at=f"2026-01-31T11:59:{number:02}Z",
        source="meter",
    )


READ_MODELS = ReadModels(
    sessions=SessionCounts({"open": 1_234, "ended": 20, "paused": 1}, active=17),
    runnable=5,
    leases=1,
    approvals=0,
    unknown=2,
    dead_letters=DeadLetters(all=4, last_hour=1),
    projections=(
        Lag("conversation", 0, 0.0, 0),
        Lag("events", 12_345, 61.25, 0),
        Lag("memory", 0, None, 1),
    ),
)
RATES = Rates(
    at="2026-01-31T12:00:00Z",
    window_s=30,
    active_s=300,
    tenants=(
        TenantRates("acme", 600, 20_000, 5_000, sessions_started=3, sessions_active=12),
        TenantRates("other", 700, 0, 0, sessions_started=0, sessions_active=1),
    ),
    tools=(
        ToolRates("acme", "pay", 10, 100, calls=4, completed=2, failed=2, durations=((39, 4),)),
        ToolRates("acme", "search", 10, 100, calls=8, completed=0, failed=0),
    ),
)
SNAPSHOT = Snapshot(AT, READ_MODELS, RATES, (alert(1), alert(2)))


def text(snapshot: Snapshot, **size: int) -> str:
    return "\n".join(line.text for line in screen(snapshot, **size))


def test_all_figures_stand_on_one_screen() -> None:
    # 1.2 ** 38.5 ms is 1.118 s: the middle of the class that four calls were counted in.
    assert (
        text(SNAPSHOT)
        == """\
agentjournal  2026-01-31 12:00:00
sessions   1,234 open, 20 ended, 0 expired, 0 deleted, 1 paused, 17 active in the last 5 minutes
work       5 sessions runnable, 1 lease live, 0 approvals waiting, 2 outcomes unknown
refused    4 dead letters, 1 in the last hour; 1 stream parked
rates      2,600 events, 40,000 tokens, 6 new sessions a minute; 13 active within 300 s; \
about, over 30 s

alerts, the latest first
2026-01-31 11:59:02  critical  error_rate        acme  session/acme/s-2  open past its lease
2026-01-31 11:59:01  warning   stuck_call        acme  session/acme/s-1  open past its lease

projection    events behind  seconds behind  parked
memory                    0               -       1
events               12,345            61.2       0
conversation              0             0.0       0

tool    tenant  calls/min  completed  failed  failing    p50    p95
search  acme           16          0       0        -      -      -
pay     acme            8          2       2      50%  1.1 s  1.1 s

tenant  events/min  tokens/min  model tokens/min  new sessions/min  active
other        1,400           0                 0                 0       1
acme         1,200      40,000            10,000                 6      12"""
    )


def test_a_server_that_is_away_is_said_in_its_place_and_the_rest_goes_on() -> None:
    away = Trouble("Postgres cannot be reached: it is gone")
    assert (
        text(replace(SNAPSHOT, read_models=away, rates=Trouble("no meter")))
        == """\
agentjournal  2026-01-31 12:00:00
sessions   Postgres cannot be reached: it is gone
rates      no meter

alerts, the latest first
2026-01-31 11:59:02  critical  error_rate        acme  session/acme/s-2  open past its lease
2026-01-31 11:59:01  warning   stuck_call        acme  session/acme/s-1  open past its lease"""
    )
    lines = screen(Snapshot(AT, away, None, Trouble("Kafka cannot be reached: gone")))
    assert [(line.text, line.style) for line in lines[1:]] == [
        ("sessions   Postgres cannot be reached: it is gone", "trouble"),
        ("rates      …", "plain"),
        ("alerts     Kafka cannot be reached: gone", "trouble"),
    ]


def test_what_was_not_read_yet_or_is_not_there_is_told_apart() -> None:
    assert text(Snapshot(AT)).splitlines()[1:] == [
        "sessions   …",
        "rates      …",
        "alerts     …",
    ]
    assert text(Snapshot(AT, alerts=())).endswith("\nalerts     there are none")


def test_what_took_too_long_to_count_is_said() -> None:
    counted = replace(READ_MODELS, sessions=None, sessions_about=12_000_000, unknown=None)
    lines = text(Snapshot(AT, counted)).splitlines()
    assert lines[1] == (
        "sessions   about 12,000,000, as the planner estimates: counting them takes too long"
    )
    assert lines[2].endswith(", ? outcomes unknown")
    nothing = text(Snapshot(AT, ReadModels())).splitlines()
    assert nothing[1:4] == [
        "sessions   ?",
        "work       ? sessions runnable, ? leases live, ? approvals waiting, ? outcomes unknown",
        "refused    ? dead letters, ? in the last hour; ? streams parked",
    ]


def test_what_the_meter_could_not_take_is_said() -> None:
    lost = replace(RATES, uncounted=Uncounted(unreadable=1, tenants=2, tools=3, sessions=4))
    assert text(Snapshot(AT, rates=lost)).splitlines()[3] == (
        "           too low: 1 record unreadable, 2 events of tenants beyond the most, 3 of tools; "
        "4 sessions and 0 open calls forgotten"
    )


def test_names_of_others_are_harmless() -> None:
    nasty = "\x1b[2J\x07\n\u202e[red]x"
    rates = replace(
        RATES,
        tools=(replace(RATES.tools[0], tool=nasty, tenant=nasty),),
        tenants=(replace(RATES.tenants[0], tenant=nasty),),
    )
    counts = SessionCounts({nasty: 1}, active=0)
    shown = Snapshot(
        AT,
        replace(READ_MODELS, sessions=counts, projections=(Lag(nasty, 0, 0.0, 0),)),
        rates,
        (replace(alert(1), tenant=nasty, subject=nasty, text=nasty),),
    )
    escaped = r"\x1b[2J\x07\n\u202e[red]x"
    lines = text(shown).splitlines()
    assert not [line for line in lines if not line.isprintable()]
    assert sum(line.count(escaped) for line in lines) == 6
    console = Console(width=200, height=40, force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(drawn(shown, console))
    assert captured.get().split("\n")[:-1] == lines  # [red] is not read as markup either


def test_a_screen_has_the_size_of_the_terminal() -> None:
    many = tuple(alert(number, "x" * 300) for number in range(40))
    lags = tuple(Lag(f"projection-{number}", number, 0.0, 0) for number in range(15))
    shown = replace(SNAPSHOT, alerts=many, read_models=replace(READ_MODELS, projections=lags))
    lines = text(shown, width=90, height=24).splitlines()
    # 5 lines of figures, 4 tables with a line of names and one between them: 11 rows are left. The
    # tables of 2 rows have them, one of the others 3, the first 4.
    assert len(lines) == 24
    assert [line.split()[0] for line in lines if line.startswith(("2026", "…", "pro"))] == [
        *("2026-01-31", "2026-01-31", "2026-01-31", "…"),
        *("projection", "projection-14", "projection-13", "…"),
    ]
    assert [line for line in lines if line.startswith("…")] == ["… 37 more", "… 13 more"]
    console = Console(width=90, height=10, force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(drawn(shown, console))
    drawn_lines = captured.get().splitlines()
    assert len(drawn_lines) == 10
    assert max(map(cell_len, drawn_lines)) <= 90
    assert len(text(shown).splitlines()) == 5 + 8 + 20 + 15 + 2 + 2  # where there is no terminal


@given(room=st.integers(-5, 60), wanted=st.lists(st.integers(0, 30), max_size=5))
def test_rows_are_shared_evenly(room: int, wanted: list[int]) -> None:
    given_rows = shares(room, wanted)
    assert sum(given_rows) == min(max(room, 0), sum(wanted))
    for rows, most in zip(given_rows, wanted, strict=True):
        assert rows <= most
        if rows < most:  # then nobody has more than one row more
            assert max(given_rows) <= rows + 1


def test_programs_get_all_figures_and_why_some_are_missing() -> None:
    found = orjson.loads(orjson.dumps(for_programs(replace(SNAPSHOT, alerts=Trouble("away")))))
    assert (found["at"], found["active_s"]) == ("2026-01-31T12:00:00+00:00", 300)
    assert found["read_models"]["sessions"] == {
        "by_status": {"open": 1_234, "ended": 20, "paused": 1},
        "active": 17,
    }
    assert found["read_models"]["projections"][1] == {
        "projection": "events",
        "events_behind": 12_345,
        "seconds_behind": 61.25,
        "parked": 0,
    }
    tool = found["rates"]["tools"][0]
    assert (tool["tool"], tool["error_rate"], round(tool["p95_s"], 3)) == ("pay", 0.5, 1.118)
    assert "durations" not in tool
    assert (found["alerts"], found["trouble"]) == (None, {"alerts": "away"})
    assert orjson.loads(orjson.dumps(for_programs(Snapshot(AT))))["trouble"] == {}


def test_a_figure_that_takes_long_is_counted_seldom() -> None:
    pace = Pace()
    assert pace.is_due("sessions", 100.0)
    pace.took("sessions", 100.0, 101.0)
    assert not pace.is_due("sessions", 119.9)  # a second in twenty
    assert pace.is_due("sessions", 120.0)
    assert pace.is_due("leases", 101.0)


async def test_without_any_server_each_is_said_to_be_away() -> None:
    settings = Settings(
        kafka="127.0.0.1:9",
        postgres="postgresql://nobody@127.0.0.1:9/none",
        redis="redis://127.0.0.1:9/0",
    )
    watch = Watch(sources_of(settings))
    await watch.read()
    await watch.close()
    found = watch.snapshot()
    said = [found.read_models, found.rates, found.alerts]
    servers = [
        part.text.split(" cannot be reached: ")[0] for part in said if isinstance(part, Trouble)
    ]
    assert servers == ["Postgres", "Redis", "Kafka"]


class Silent:
    """A server that does not answer, by a driver that takes its time to give up."""

    def __init__(self) -> None:
        self.gave_up = asyncio.Event()

    async def read(self) -> ReadModels:
        try:
            await asyncio.Event().wait()
        finally:
            with suppress(asyncio.CancelledError):
                await self.gave_up.wait()
        return READ_MODELS

    async def close(self) -> None:
        pass


class Quick:
    """A server that answers."""

    async def read(self) -> tuple[Alert, ...]:
        return (alert(1),)

    async def close(self) -> None:
        pass


async def test_a_server_that_is_silent_is_said_to_be_before_its_driver_gives_up() -> None:
    silent, changed = Silent(), asyncio.Event()
    watch = Watch({"read_models": silent, "alerts": Quick()}, changed.set, longest_s=0.01)
    reading = asyncio.create_task(watch.read())
    async with asyncio.timeout(10):
        while watch.snapshot().read_models is None:
            changed.clear()
            await changed.wait()
    away = Trouble("Postgres cannot be reached: no answer in 0.01 s")
    assert (watch.snapshot().read_models, watch.snapshot().alerts) == (away, (alert(1),))
    assert not reading.done()
    silent.gave_up.set()
    await reading
