"""What `top` counts in Postgres: right, bounded in time, and again after the server was away."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final, LiteralString

import pytest

import agentjournal as aj
from agentjournal.errors import Unavailable
from agentjournal.settings import Settings
from commands.errors import NoTables
from commands.postgres_top import STATEMENTS, ReadModelCounts
from commands.top_figures import DeadLetters, ReadModels, SessionCounts
from local.stack import Stack
from tests.servers import (
    connected,
    fresh_settings,
    new_database,
    projector,
    query,
    roles,
    sequencer,
)
from tests.support import message

pytestmark = pytest.mark.stack

SLOW: Final[LiteralString] = "SELECT pg_sleep(60)"


@pytest.fixture(scope="module")
def empty(stack: Stack) -> Settings:
    """Tables without a row, for all tests that need none."""
    return asyncio.run(fresh_settings(stack.settings))


def started(call_id: str) -> aj.ToolStarted:
    return aj.ToolStarted(
        call_id=call_id,
        tool="pay",
        arguments_text="{}",
        arguments_digest="0" * 64,
        effect="external",
        idempotency_key=call_id,
        attempt=1,
        lease_s=0.001,
        kind="function",
    )


async def test_everything_is_counted_in_all_tenants(fresh: Settings) -> None:
    counts = ReadModelCounts(fresh)
    async with roles(fresh, sequencer, projector), connected(fresh) as log, connected(fresh) as b:
        asking, left, ended, busy = (log.session(name, user="u") for name in "abcd")
        await asking.append(message("?"))
        await asking.request_approval("May pay run?")
        done = aj.ToolCompleted(call_id="c-2", output="x", duration_ms=1)
        await left.append([message("b"), started("c-1"), started("c-2"), done])
        await ended.append(message("c"))
        await ended.end()
        await b.session("a").append(message("another tenant"))
        await busy.append(message("d"))
        with pytest.raises(aj.SessionMismatch):
            await log.session("d", user="v").append(message("d"))
        async with busy.resume(worker="w", lease_s=600):
            await log.caught_up(await b.session("a").append(message("more")))
            await query(fresh, PARKED)
            async with asyncio.timeout(20):
                # A refusal is a row a moment later, and rows tell nobody.
                while (found := await counts.read()).dead_letters == DeadLetters(0, 0):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
    await counts.close()
    assert found.sessions == SessionCounts({"open": 4, "ended": 1}, active=5)
    assert found.sessions_about is None
    # A worker has the fifth session.
    assert (found.runnable, found.leases, found.approvals, found.unknown) == (3, 1, 1, 1)
    assert found.dead_letters == DeadLetters(all=1, last_hour=1)
    assert found.projections is not None
    parked = {lag.projection: lag.parked for lag in found.projections}
    assert (parked["memory"], sum(parked.values())) == (1, 1)
    assert {"conversation", "events", "execution", "plan"} < set(parked)


PARKED = """
INSERT INTO agentjournal_internal.parked (projection, generation, stream, partition, version, error)
VALUES ('memory', 1, 'session/x/y', 0, 1, 'it does not fit')
"""


async def test_what_takes_too_long_is_given_up_and_the_rest_is_counted(empty: Settings) -> None:
    statements: dict[str, LiteralString] = {**STATEMENTS, "sessions": SLOW, "unknown": "SELECT 7"}
    counts = ReadModelCounts(empty, statements=statements, longest_s=0.2)
    found = await counts.read()
    assert found.sessions is None
    assert found.sessions_about is not None  # the planner's estimate of a table it never looked at
    assert (found.leases, found.unknown) == (0, 7)
    statements["sessions"] = "SELECT 1 / 0"  # what took long is not counted again at once
    assert (await counts.read()).sessions is None
    await counts.close()


async def test_what_a_look_has_no_time_for_is_counted_by_the_next(empty: Settings) -> None:
    statements: dict[str, LiteralString] = {**STATEMENTS, "projections": SLOW, "dead_letters": SLOW}
    counts = ReadModelCounts(empty, statements=statements, longest_s=0.4, in_all_s=0.6)
    assert await counts.read() == ReadModels()
    found = await counts.read()
    assert (found.projections, found.dead_letters) == (None, None)
    assert (found.approvals, found.runnable) == (0, 0)
    await counts.close()


async def test_after_postgres_was_away_it_counts_again(empty: Settings) -> None:
    counts = ReadModelCounts(empty)
    await counts.read()
    await query(
        empty,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name = 'agentjournal top'",
    )
    with pytest.raises(Unavailable, match=r"^Postgres cannot be reached: "):
        await counts.read()
    assert (await counts.read()).leases == 0
    await counts.close()


async def test_a_database_without_our_tables_is_said(stack: Stack) -> None:
    counts = ReadModelCounts(await new_database(stack.settings))
    with pytest.raises(NoTables):
        await counts.read()
    await counts.close()


async def test_analysts_may_count(empty: Settings) -> None:
    as_analyst = f"{empty.postgres}?options=-c%20role%3Dagentjournal_analyst"
    counts = ReadModelCounts(replace(empty, postgres=as_analyst))
    found = await counts.read()
    await counts.close()
    assert found.sessions == SessionCounts({}, active=0)
    assert (found.unknown, found.runnable) == (0, 0)
