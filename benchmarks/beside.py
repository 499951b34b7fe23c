"""The same conversation through agentjournal and through two other products, on one Postgres.

Each of them runs in an environment of its own, made from its pinned requirements, as its own pages
say it is used: LangGraph's AsyncPostgresSaver and Google ADK's DatabaseSessionService.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import orjson
import psycopg

import agentjournal
from agentjournal.log import Log
from agentjournal.settings import Settings
from benchmarks import projecting
from benchmarks.harness import role_process
from benchmarks.load import words
from benchmarks.others import SIDES, OtherSideError, environment, new_database, run

TURNS, WORDS_A_TEXT = 500, 72
LOADS = 20
OTHERS = ("langgraph", "adk")

Figures = Mapping[str, tuple[float, str]]
Role = Literal["user", "assistant"]
Messages = Sequence[tuple[Role, str]]
ROLES: tuple[Role, ...] = ("user", "assistant")


async def beside(settings: Settings) -> Figures:
    """Append 500 turns one message at a time, load them, weigh what is on disk."""
    messages: Messages = [(role, words(WORDS_A_TEXT)) for _ in range(TURNS) for role in ROLES]
    ours = await _ours(settings, messages)
    figures = dict(named("agentjournal", ours))
    for name in OTHERS:
        try:
            theirs = await _theirs(settings, name, messages)
        except OtherSideError as error:
            figures[f"beside.{name}: {error}"] = (0.0, "not run")
            continue
        figures |= named(name, theirs)
        figures |= ratios(name, ours, theirs)
    return figures


def measured(printed: bytes, bytes_on_disk: int, expected: int) -> dict[str, tuple[float, str]]:
    """Return the figures of one product from what its run printed.

    Raises OtherSideError when it did not come to its end, or not all messages came back.
    """
    try:
        found: dict[str, Any] = orjson.loads(printed.strip().rpartition(b"\n")[2])
        append_ms: list[float] = found["append_ms"]
        load_ms: list[float] = found["load_ms"]
        loaded: int = found["loaded"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise OtherSideError(f"printed no figures ({error})") from error
    if len(append_ms) != expected:
        raise OtherSideError(f"{len(append_ms)} of {expected} messages were appended")
    if loaded != expected:
        raise OtherSideError(f"{loaded} of {expected} messages came back")
    return {
        "append.p50": (statistics.median(append_ms), "ms"),
        "append": (1_000 * len(append_ms) / sum(append_ms), "events/s"),
        "load": (statistics.median(load_ms), "ms"),
        "disk": (float(bytes_on_disk), "bytes"),
    }


def ratios(name: str, ours: Figures, theirs: Figures) -> dict[str, tuple[float, str]]:
    """Return how many times their figure is ours, of each that ours is not 0 of."""
    return {
        f"beside.{name}.{what}.to_ours": (theirs[what][0] / value, "ratio")
        for what, (value, _) in ours.items()
        if value
    }


def named(name: str, figures: Figures) -> dict[str, tuple[float, str]]:
    """Return a product's figures under its name."""
    return {f"beside.{name}.{what}": figure for what, figure in figures.items()}


async def _ours(settings: Settings, messages: Messages) -> Figures:
    append_ms: list[float] = []
    load_ms: list[float] = []
    loaded = 0
    async with (
        role_process(settings, "sequencer"),
        role_process(settings, "projector"),
        Log(settings) as log,
    ):
        session = log.session("beside", agent="bench")
        for role, text in messages:
            began = time.perf_counter()
            await session.append(agentjournal.MessageAdded(role=role, content=text))
            append_ms.append((time.perf_counter() - began) * 1_000)
        await session.load(timeout_s=60)
        for _ in range(LOADS):
            began = time.perf_counter()
            loaded = len((await log.session("beside").load()).messages)
            load_ms.append((time.perf_counter() - began) * 1_000)
    on_disk = await projecting.postgres_bytes(settings) + projecting.kafka_bytes(settings)
    printed = orjson.dumps({"append_ms": append_ms, "load_ms": load_ms, "loaded": loaded})
    return measured(printed, on_disk, len(messages))


async def _theirs(settings: Settings, name: str, messages: Messages) -> Figures:
    python = await environment(name)
    address = await new_database(settings, name)
    script = str(SIDES / f"{name}_side.py")
    printed = await run(str(python), script, address, given=orjson.dumps(messages))
    return measured(printed, await _table_bytes(address), len(messages))


async def _table_bytes(address: str) -> int:
    """Return the bytes of all tables of a database, with indexes and what lies outside."""
    query = (
        "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class AS c "
        "JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        "WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
    )
    async with await psycopg.AsyncConnection.connect(address, autocommit=True) as connection:
        await connection.execute("VACUUM")
        row = await (await connection.execute(query)).fetchone()
    return int(row[0]) if row is not None else 0
