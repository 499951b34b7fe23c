"""The janitor on real servers: what expires and what does not, whoever is faster, once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

import agentjournal as aj
from agentjournal.ids import Partition, Version
from agentjournal.kafka_alerts import AlertWriter
from agentjournal.limits import ConfiguredLimits
from agentjournal.settings import Settings
from consumers.janitor import Janitor, JanitorPorts
from consumers.janitor_expiry import Idle, asked, expiry_of
from consumers.janitor_limits import rows_of
from consumers.kafka_requests import KafkaRequests
from consumers.postgres_janitor import PostgresJanitor
from consumers.postgres_pool import PostgresPool
from tests.janitors import (
    NO_ALERTS,
    expired,
    janitor,
    met,
    placed,
    refused_of,
    said,
    types_of,
    with_limits,
    with_status,
)
from tests.servers import connected, query, roles

pytestmark = pytest.mark.stack

AN_HOUR_LATER = "now() + interval '1 hour'"
LATER = {"turn", "step"}  # sessions that go on by themselves in two hours


async def scheduled(log: aj.Log) -> None:
    """Let a session have a turn, and another a step, that goes on later than its TTL."""
    at = (datetime.now(UTC) + timedelta(hours=2)).isoformat()
    async with log.session("turn", ttl_s=0.5).resume(worker="w") as run:
        await run.say("Remind me in two hours.")
        await run.end_turn(resume_at=at)
    retry = aj.Retry(max_attempts=2, backoff_s=[7_200])
    step = aj.PlannedStep(step_id="pay", title="pay", retry=retry)
    plan = await log.session("step", ttl_s=0.5).plan("pay", steps=[step])
    async with plan.run("pay") as attempt:
        receipt = await attempt.fail("the bank is closed")
    await log.caught_up(receipt)


async def test_what_is_idle_for_its_ttl_expires_and_what_waits_or_is_worked_on_does_not(
    journal: Settings, tmp_path: Path
) -> None:
    tenant = f"tenant-{uuid4().hex[:8]}"
    limited = with_limits(journal, tmp_path, f"[tenant.{tenant}]\nttl_s = 1\n")
    approval = aj.ApprovalRequested(approval_id="a-1", question="Refund?")
    waiting: dict[str, aj.Event] = {
        "approval": approval,
        "input": aj.InputRequested(input_id="i-1", question="Which order?"),
        "handoff": aj.HandoffRequested(
            handoff_id="h-1", mode="delegate", to_agent="billing", task="refund"
        ),
    }
    async with connected(journal, tenant=tenant) as log:
        for name, request in waiting.items():
            await log.session(name, ttl_s=0.5).append([said(), request])
        run = await log.session("leased", ttl_s=0.5).resume(worker="w", lease_s=86_400)
        await log.session("patient", ttl_s=3_600).append(said())
        await log.session("changed").append(said())
        await log.session("changed").append(aj.SessionUpdated(ttl_s=3_600))
        await log.session("own", ttl_s=0.5).append(said())
        receipt = await log.session("tenant's").append(said())
        await log.caught_up(receipt)
        await scheduled(log)
        own = f"tenant = '{tenant}'"
        found = await query(
            journal,
            f"SELECT session_id, waits_for FROM agentjournal.idle_sessions WHERE {own}",
        )
        assert {row["session_id"]: row["waits_for"] for row in found} == {
            **{name: name for name in waiting},
            **dict.fromkeys(("leased", "patient", "changed", "own", "tenant's", *LATER)),
        }
        async with roles(limited, janitor(NO_ALERTS)):
            await expired(log, "own", "tenant's")
            # All that were begun before have been idle for longer than it has, and were looked at.
            await log.session("last", ttl_s=1).append(said())
            await expired(log, "last")
            assert await with_status(log, "open") == {
                *waiting,
                "leased",
                "patient",
                "changed",
                *LATER,
            }
            found = await query(
                journal,
                f"SELECT session_id FROM agentjournal.expired_sessions({AN_HOUR_LATER})"
                f" WHERE {own}",
            )
            assert {row["session_id"] for row in found} == {"patient", "changed"}
            await run.release()
            await log.session("approval").append(
                aj.ApprovalGranted(approval_id="a-1", by="somebody")
            )
            await log.session("input").append(
                aj.InputProvided(input_id="i-1", by="somebody", value=7)
            )
            await log.session("handoff").append(
                aj.HandoffCompleted(handoff_id="h-1", summary="done")
            )
            await expired(log, *waiting, "leased")
        assert await with_status(log, "open") == {"patient", "changed", *LATER}
        [mine] = await query(
            journal,
            f"SELECT maximum FROM agentjournal.limits WHERE {own} AND session_id IS NULL"
            " AND name = 'ttl_s'",
        )
        assert mine["maximum"] == 1
        # It deletes nothing.
        assert await types_of(log.session("own")) == [
            "session.started",
            "message.added",
            "session.expired",
        ]
        async with log.session("own").resume(worker="w") as resumed:
            assert [each.text for each in resumed.state.messages] == ["hi"]

        async def is_open() -> bool:
            return "own" in await with_status(log, "open")

        await met(is_open)


async def test_a_message_of_the_same_millisecond_wins_when_it_comes_first(
    journal: Settings,
) -> None:
    async with connected(journal) as log, KafkaRequests(journal) as requests:
        names = await _in_one_partition(log)
        expiries = [
            expiry_of(Idle(*placed(log, name), Version(receipt.last_version), 1))
            for name, receipt in names.items()
        ]
        first, second = expiries
        both = [
            asked(first.stream, first.partition, said("wait!"), "message"),
            first,
            second,
            asked(second.stream, second.partition, said("too late"), "message"),
        ]
        await log.caught_up(list(names.values())[-1])
        await _idle_for_a_second(log)
        await requests.send(both)
        message_first, expired_first = names
        await expired(log, expired_first)
        await log.caught_up(await log.session(expired_first).append(said("later")))
        times = await query(
            journal,
            "SELECT DISTINCT recorded_at FROM agentjournal.events"
            f" WHERE tenant = '{log.settings.tenant}' AND append_id = ANY ('{{message,expire-2}}')",
        )
        assert len(times) == 1, "they were to come in one batch"
        assert await types_of(log.session(message_first)) == [
            "session.started",
            "message.added",
            "message.added",
        ]
        assert (await types_of(log.session(expired_first)))[2:4] == [
            "session.expired",
            "message.added",
        ]
        assert message_first in await with_status(log, "open")
        assert await refused_of(log) == []  # nobody need look at a race that is meant to be lost


async def _in_one_partition(log: aj.Log) -> dict[str, aj.Receipt]:
    """Begin two sessions that are in the same partition."""
    of_partition: dict[Partition, str] = {}
    for name in (f"s-{n}" for n in range(100)):
        partition = placed(log, name)[1]
        if partition in of_partition:
            pair = (of_partition[partition], name)
            return {each: await log.session(each).append(said()) for each in pair}
        of_partition[partition] = name
    raise AssertionError("no two of a hundred")


async def _idle_for_a_second(log: aj.Log) -> None:
    """Return once the last of the sessions has been idle for more than a second."""

    async def is_idle() -> bool:
        [row] = await query(
            log.settings,
            "SELECT now() - max(last_activity_at) > interval '1.2 s' AS is_idle"
            f" FROM agentjournal.sessions WHERE tenant = '{log.settings.tenant}'",
        )
        return bool(row["is_idle"])

    await met(is_idle)


class Alone:
    """A membership that knows nobody else: its member takes itself for the active one."""

    def __init__(self, member: str) -> None:
        self.member = member

    async def heartbeat(self) -> list[str]:
        return [self.member]

    async def leave(self) -> None:
        return None


@asynccontextmanager
async def alone(settings: Settings, stop: asyncio.Event) -> AsyncGenerator[Janitor]:
    async with (
        PostgresPool(settings, name="alone", size=1) as pool,
        KafkaRequests(settings) as requests,
        AlertWriter(settings) as alerts,
    ):
        ports = JanitorPorts(PostgresJanitor(pool), requests, alerts, Alone("alone"))
        yield Janitor(ports, list(rows_of(ConfiguredLimits())), NO_ALERTS)
        stop.set()


async def test_two_janitors_that_both_take_themselves_for_the_one_expire_once(
    journal: Settings,
) -> None:
    stop = asyncio.Event()
    async with connected(journal) as log, alone(journal, stop) as one, alone(journal, stop) as two:
        names = {f"s-{n}" for n in range(40)}
        await asyncio.gather(
            *(log.session(name, ttl_s=0.2).append(said()) for name in sorted(names))
        )
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(each.run(stop)) for each in (one, two)]
            await expired(log, *names)
            stop.set()
        assert all(task.done() for task in running)
        found = await query(
            journal,
            "SELECT session_id, count(*) FROM agentjournal.events WHERE type = 'session.expired'"
            f" AND tenant = '{log.settings.tenant}' GROUP BY session_id",
        )
        assert Counter({row["session_id"]: row["count"] for row in found}) == Counter(names)
