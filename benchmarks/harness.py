"""Rounds, medians, and the table: a figure is worth as much as the yardstick beside it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import statistics
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
from rich.console import Console
from rich.table import Table

from agentjournal.settings import Settings
from consumers.running import initialise

CHECKOUT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).with_name("latest.json")
# What a row is to be at most, on the machine that it is measured on.
TARGETS = {
    "resume.3000": 50.0,
    "call.overhead": 10.0,
    "agents.200": 100.0,
    "limits.cost": 5.0,
    "metrics.cost": 3.0,
    "recall.lexical": 10.0,
    "recall.fused": 30.0,
    "promote.100": 50.0,
}
AT_LEAST = {"expiry": 2_000.0, "meter": 8_000.0, "subscribe": 40_000.0}


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: the median of `n` rounds."""

    name: str
    value: float
    unit: str
    n: int


Round = Callable[[Settings], Awaitable[Mapping[str, tuple[float, str]]]]


async def median_of(rounds: int, settings: Settings, run: Round, label: str) -> list[Row]:
    """Run a benchmark `rounds` times, each on fresh topics and tables; return its medians.

    A figure NAME with a yardstick NAME.raw gets a row NAME.ratio: the median of the rounds' ratios.
    """
    found: dict[str, list[float]] = {}
    units: dict[str, str] = {}
    for number in range(rounds):
        print(f"{label}: round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        fresh = await fresh_settings(settings, f"{label}{number}.{os.getpid()}.")
        figures = await run(fresh)
        for name, (value, unit) in figures.items():
            found.setdefault(name, []).append(value)
            units[name] = unit
            yardstick = figures.get(f"{name}.raw")
            if yardstick is not None:
                found.setdefault(f"{name}.ratio", []).append(value / yardstick[0])
                units[f"{name}.ratio"] = "ratio"
    return [
        Row(name, statistics.median(values), units[name], len(values))
        for name, values in found.items()
    ]


async def fresh_settings(settings: Settings, prefix: str) -> Settings:
    """Return settings under a topic prefix of their own, with empty topics and tables."""
    connection = await psycopg.AsyncConnection.connect(settings.postgres, autocommit=True)
    async with connection:
        await connection.execute("DROP SCHEMA IF EXISTS agentjournal CASCADE")
        await connection.execute("DROP SCHEMA IF EXISTS agentjournal_internal CASCADE")
        await connection.execute("DROP TABLE IF EXISTS public.agentjournal_migrations")
    fresh = replace(settings, topic_prefix=prefix)
    await initialise(fresh)
    return fresh


def environment_of(settings: Settings) -> dict[str, str]:
    """Return the environment of a process that finds these servers."""
    return os.environ | {
        "AGENTJOURNAL_KAFKA": settings.kafka,
        "AGENTJOURNAL_POSTGRES": settings.postgres,
        "AGENTJOURNAL_REDIS": settings.redis,
        "AGENTJOURNAL_TOPIC_PREFIX": settings.topic_prefix,
    }


@asynccontextmanager
async def role_process(
    settings: Settings, *roles: str, arguments: Sequence[str] = ()
) -> AsyncGenerator[int]:
    """Run roles in a process of their own, or Python with other `arguments`; yield its pid."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, *(arguments or ("-m", "consumers", *roles)),
        env=environment_of(settings), cwd=CHECKOUT,
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process.pid
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        await process.wait()


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the value that `percent` of all are not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def report(rows: Sequence[Row]) -> None:
    """Print the table and write it to latest.json."""
    table = Table("name", "value", "unit", "n", "target", title="agentjournal benchmarks")
    for row in rows:
        table.add_row(row.name, f"{row.value:,.3f}", row.unit, str(row.n), target(row))
    Console(width=100).print(table)
    listed = [{"name": r.name, "value": r.value, "unit": r.unit, "n": r.n} for r in rows]
    RESULTS.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")


def target(row: Row) -> str:
    """Return what a row is to reach, and whether it does; nothing where there is no such thing."""
    if (least := AT_LEAST.get(row.name)) is not None:
        return f"≥ {least:,g}" if row.value >= least else f"≥ {least:,g}: missed"
    most = TARGETS.get(row.name)
    if most is None:
        return ""
    return f"≤ {most:g}" if row.value <= most else f"≤ {most:g}: missed"
