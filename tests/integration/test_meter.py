"""The meter beside a running log: what it counts is what SQL counts, and it may die at any time."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import contextmanager, suppress

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from redis.asyncio import Redis

import agentjournal as aj
from agentjournal.alerts import Alert
from agentjournal.kafka_alerts import AlertReader
from agentjournal.kafka_options import client_options
from agentjournal.rates import Rates, TenantRates
from agentjournal.redis_rates import rates, rates_key
from agentjournal.settings import Settings
from tests import warm
from tests.servers import connected, environment_of, projector, query, roles, sequencer

pytestmark = pytest.mark.stack

THRESHOLDS = {
    "WINDOW_S": "600",  # longer than the tests: what is counted stays
    "ERROR_CALLS": "4",
    "SESSION_STORM": "1",  # a minute: eleven in the window
    "STUCK_CALL_S": "0.1",
    "RUNAWAY_LOOP": "5",
}


@contextmanager
def meter_of(settings: Settings) -> Generator[warm.Forked]:
    """Run a meter in a process of its own; kill it, unless it is dead by then."""
    set_by = {f"AGENTJOURNAL_METER_{name}": value for name, value in THRESHOLDS.items()}
    process = warm.start("consumers", ["meter"], environment_of(settings) | set_by)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


async def rates_when(settings: Settings, is_so: Callable[[Rates], bool]) -> Rates:
    """Return the first rates of which something is so. Raises TimeoutError."""
    async with asyncio.timeout(60):
        while True:
            with suppress(aj.Unavailable):  # this process is busy with roles
                found = await rates(settings)
                if found is not None and is_so(found):
                    return found
            await asyncio.sleep(0.05)


def of(found: Rates, tenant: str) -> TenantRates:
    """Return what was counted of a tenant."""
    counted = [each for each in found.tenants if each.tenant == tenant]
    return counted[0] if counted else TenantRates(tenant, 0, 0, 0, 0, 0)


@pytest.fixture(scope="module")
def metered(journal: Settings) -> Generator[Settings]:
    """A log that a meter reads."""
    with meter_of(journal):
        asyncio.run(rates_when(journal, lambda _: True))
        yield journal


@pytest.fixture
async def log(metered: Settings) -> AsyncGenerator[aj.Log]:
    """A client of a tenant of the test's own."""
    async with connected(metered) as connection:
        yield connection


async def alert_of(log: aj.Log, kind: str) -> Alert:
    """Return the first alert of a kind about the tenant."""
    async with asyncio.timeout(60), AlertReader(log.settings) as reader:
        for read in (reader.kept, reader.written):
            async for alert in read():
                about = isinstance(alert, Alert) and (alert.kind, alert.tenant)
                if isinstance(alert, Alert) and about == (kind, log.settings.tenant):
                    return alert
    raise AssertionError


async def call(session: aj.Session, number: int, *, fails: bool = False) -> None:
    """Look something up, which ends well or not."""
    async with session.call("look_up", {"n": number}) as running:
        if fails:
            await running.fail(ValueError("no such thing"))
        else:
            await running.complete(str(number))


async def test_what_it_counted_of_a_finished_run_is_what_sql_counts(log: aj.Log) -> None:
    for name in ("a", "b"):
        session = log.session(name, agent="support")
        await session.append(aj.MessageAdded(role="user", content="where is it?"))
        for number in range(3):
            await call(session, number, fails=number == 2)
        await session.append(
            aj.ModelCalled(
                provider="p", request_model="m", input_tokens=100, output_tokens=20,
                duration_ms=5, finish_reason="stop", status="completed",
            )
        )  # fmt: skip
        await session.load()  # the read models have it all
    tenant = log.settings.tenant
    [sql] = await query(
        log.settings,
        f"""SELECT count(*) AS events, coalesce(sum(tokens), 0)::int AS tokens
            FROM agentjournal.events WHERE tenant = '{tenant}'""",
    )
    found = await rates_when(log.settings, lambda seen: of(seen, tenant).events >= sql["events"])
    counted = of(found, tenant)
    assert (counted.events, counted.tokens) == (sql["events"], sql["tokens"])
    assert (counted.sessions_started, counted.sessions_active) == (2, 2)
    assert counted.model_tokens == 240
    [sql] = await query(
        log.settings,
        f"""SELECT tool, count(*) AS calls,
                count(*) FILTER (WHERE outcome = 'completed') AS completed,
                count(*) FILTER (WHERE outcome = 'failed') AS failed
            FROM agentjournal.tool_calls WHERE tenant = '{tenant}' GROUP BY tool""",
    )
    [tool] = [each for each in found.tools if each.tenant == tenant]
    assert {name: getattr(tool, name) for name in sql} == sql
    assert (tool.calls, tool.failed) == (6, 2)
    assert sum(count for _, count in tool.durations) == 6


async def test_a_tool_that_fails_more_often_than_not_is_told_of(log: aj.Log) -> None:
    session = log.session("s", agent="support")
    for number in range(4):
        await call(session, number, fails=number > 0)
    alert = await alert_of(log, "error_rate")
    assert (alert.subject, alert.value, alert.threshold) == ("look_up", 0.75, 0.5)


async def test_many_new_sessions_are_told_of(log: aj.Log) -> None:
    for number in range(11):
        await log.session(f"s-{number}", agent="support").append(
            aj.MessageAdded(role="user", content="hi")
        )
    alert = await alert_of(log, "session_storm")
    assert (alert.subject, alert.threshold) == (log.settings.tenant, 1)


async def test_a_call_past_its_lease_is_told_of(log: aj.Log) -> None:
    session = log.session("s", agent="support")
    await session.append(started("c-1", lease_s=0.1))
    alert = await alert_of(log, "stuck_call")
    assert (alert.subject, alert.source) == (session.stream, "meter")
    assert "look_up" in alert.text


async def test_the_same_call_again_and_again_is_told_of(log: aj.Log) -> None:
    session = log.session("s", agent="support")
    await session.append([started(f"c-{number}") for number in range(5)])
    alert = await alert_of(log, "runaway_loop")
    assert (alert.subject, alert.value) == (session.stream, 5)


def started(call_id: str, *, lease_s: float = 600) -> aj.ToolStarted:
    """Return the beginning of a call with always the same arguments."""
    return aj.ToolStarted(
        call_id=call_id,
        tool="look_up",
        arguments_text="{}",
        arguments_digest=aj.arguments_digest("look_up", {}),
        effect="read",
        idempotency_key=call_id,
        lease_s=lease_s,
    )


async def test_killed_it_takes_nothing_along_and_goes_on(fresh: Settings) -> None:
    message = aj.MessageAdded(role="user", content="hi")
    async with roles(fresh, sequencer, projector), connected(fresh) as log:
        tenant, session = log.settings.tenant, log.session("s", agent="support")
        with meter_of(fresh) as meter:
            await rates_when(fresh, lambda _: True)
            await session.append(message)
            await rates_when(fresh, lambda found: of(found, tenant).events == 2)
            meter.send_signal(signal.SIGKILL)
            await session.append([message] * 10)
            assert (await session.load()).version == 12
        with meter_of(fresh):
            # What came meanwhile is read, from where the last one left word.
            await rates_when(fresh, lambda found: of(found, tenant).events >= 10)
            await session.append(message)
            found = await rates_when(fresh, lambda found: of(found, tenant).events >= 11)
            assert of(found, tenant).events <= 13
        assert (await session.load()).version == 13


async def test_a_second_one_takes_its_share_and_all_of_it_when_the_first_is_killed(
    fresh: Settings,
) -> None:
    message = aj.MessageAdded(role="user", content="hi")
    async with roles(fresh, sequencer, projector), connected(fresh) as log:
        tenant = log.settings.tenant
        sessions = [log.session(f"s-{number}", agent="support") for number in range(6)]
        with meter_of(fresh) as first, meter_of(fresh):
            await members(fresh, 2)
            for session in sessions:
                await session.append(message)
            found = await rates_when(fresh, lambda found: of(found, tenant).events >= 12)
            assert of(found, tenant).sessions_active == 6
            first.send_signal(signal.SIGKILL)
            for session in sessions:
                await session.append(message)
            await members(fresh, 1)
            await rates_when(fresh, lambda found: of(found, tenant).sessions_active == 6)
        for session in sessions:
            assert (await session.load()).version == 3


async def members(settings: Settings, count: int) -> None:
    """Return once so many meters show what they counted."""
    async with asyncio.timeout(60), Redis.from_url(settings.redis) as redis:
        while await redis.hlen(rates_key(settings.topic_prefix)) != count:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)


async def test_it_makes_no_topics(metered: Settings) -> None:
    client = AIOKafkaAdminClient(**client_options(metered))
    await client.start()
    try:
        names = {
            each for each in await client.list_topics() if each.startswith(metered.topic_prefix)
        }
    finally:
        await client.close()
    assert not {each for each in names if "meter" in each or "faust" in each}
