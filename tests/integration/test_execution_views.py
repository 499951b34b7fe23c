"""The views of handoffs, approvals, questions and leases, and of calls that nobody knows about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agentjournal import (
    ApprovalGranted,
    ApprovalRequested,
    HandoffAccepted,
    HandoffCompleted,
    HandoffRequested,
    InputProvided,
    InputRequested,
    LeaseAcquired,
    LeaseReleased,
    LeaseRenewed,
    StepStarted,
    ToolCompleted,
    ToolStarted,
)
from agentjournal.events import Constraints
from agentjournal.settings import Settings
from tests.servers import connected, query
from tests.views import recorded, rows

pytestmark = pytest.mark.stack


def begun(call_id: str, lease_s: float) -> ToolStarted:
    return ToolStarted(
        call_id=call_id,
        tool="refund",
        arguments_text="{}",
        arguments_digest="d",
        effect="external",
        idempotency_key="k",
        lease_s=lease_s,
    )


async def test_handoffs_are_rows_with_what_was_asked_and_what_came_of_it(
    journal: Settings,
) -> None:
    request = HandoffRequested(
        handoff_id="h",
        mode="delegate",
        to_agent="helper",
        task="look it up",
        context=[{"nul": "\0"}, 7],
        constraints=Constraints(max_tool_calls=3),
    )
    done = HandoffCompleted(handoff_id="h", summary="found", data={"n": 1}, usage={"tokens": 5})
    async with connected(journal) as log:
        await recorded(log, request)
        [row] = await rows(journal, "handoffs", log)
        assert (row["status"], row["accepted_at"], row["result"]) == ("open", None, None)
        assert (row["mode"], row["to_agent"], row["child_session_id"]) == (
            *("delegate", "helper"),
            None,
        )
        assert (row["context"], row["constraints"]) == (
            [{"nul": "\u2400"}, 7],
            {"max_tool_calls": 3},
        )
        await recorded(log, HandoffAccepted(handoff_id="h"))
        assert [r["status"] for r in await rows(journal, "handoffs", log)] == ["accepted"]
        await recorded(log, done)
        [row] = await rows(journal, "handoffs", log)
    assert (row["status"], row["summary"], row["result"], row["usage"]) == (
        *("completed", "found"),
        {"n": 1},
        {"tokens": 5},
    )
    assert (row["requested_version"], row["accepted_version"], row["ended_version"]) == (2, 3, 4)


async def test_approvals_and_questions_are_rows_open_until_they_are_answered(
    journal: Settings,
) -> None:
    asked = ApprovalRequested(
        approval_id="a",
        question="may I?",
        call_id="c",
        arguments_digest="d",
        choices=["yes", "no"],
        expires_at="2026-02-01 00:00+02:00",
    )
    async with connected(journal) as log:
        await recorded(
            log,
            asked,
            ApprovalRequested(approval_id="b", question="and now?"),
            InputRequested(input_id="i", question="which?", schema={"type": "string"}),
        )
        a, b = await rows(journal, "approvals", log)
        [question] = await rows(journal, "inputs", log)
        assert (a["status"], a["choices"], a["call_id"]) == ("open", ["yes", "no"], "c")
        assert a["expires_at"] == datetime(2026, 1, 31, 22, tzinfo=UTC)
        assert (b["expires_at"], b["call_id"], b["choices"]) == (None, None, None)
        assert (question["status"], question["value"]) == ("open", None)
        assert question["schema"] == {"type": "string"}
        await recorded(
            log,
            ApprovalGranted(approval_id="a", by="u-7", comment="fine"),
            InputProvided(input_id="i", by="u-7", value=["this"]),
        )
        a, b = await rows(journal, "approvals", log)
        [question] = await rows(journal, "inputs", log)
    assert (a["status"], a["answered_by"], a["comment"]) == ("granted", "u-7", "fine")
    assert a["requested_at"] <= a["answered_at"]
    assert b["status"] == "open"
    assert (question["status"], question["value"]) == ("provided", ["this"])


async def test_a_lease_runs_from_the_last_write_under_it_until_it_is_released(
    journal: Settings,
) -> None:
    async with connected(journal) as log:
        await recorded(log, LeaseAcquired(holder="w-1", fence=2, lease_s=60.5))
        [taken] = await rows(journal, "leases", log)
        assert taken["lease_until"] - taken["acquired_at"] == timedelta(seconds=60.5)
        assert (taken["holder"], taken["fence"], taken["extended_at"]) == ("w-1", 2, None)
        await recorded(log, LeaseRenewed(fence=2), InputRequested(input_id="i", question="q"),
                       fence=2)  # fmt: skip
        await recorded(log, InputRequested(input_id="j", question="under no lease"))
        [held] = await rows(journal, "leases", log)
        assert held["lease_until"] - held["extended_at"] == timedelta(seconds=60.5)
        first, second = await rows(journal, "inputs", log)
        assert held["renewed_at"] <= held["extended_at"] == first["requested_at"]
        assert held["extended_at"] < second["requested_at"]
        assert (held["renewals"], held["replaced_version"]) == (1, None)
        await recorded(log, LeaseReleased(fence=2), fence=2)
        await recorded(log, LeaseAcquired(holder="w-2", fence=7, lease_s=2**63 - 1))
        one, two = await rows(journal, "leases", log)
    assert (one["released_version"], one["replaced_version"]) == (6, 7)
    assert one["lease_until"] == one["released_at"] == one["extended_at"]
    assert (two["lease_until"], two["released_version"], two["replaced_version"]) == (None,) * 3


async def test_a_call_whose_lease_passed_is_unknown_as_of_then(journal: Settings) -> None:
    async with connected(journal) as log:
        await recorded(
            log,
            begun("a", 60),
            begun("endless", 1e18),
            begun("done", 1),
            ToolCompleted(call_id="done", output="x", duration_ms=1),
        )
        [until] = [
            row["lease_until"]
            for row in await rows(journal, "tool_calls", log)
            if row["call_id"] == "a"
        ]

        async def unknown(as_of: datetime) -> list[str]:
            asked = f"agentjournal.unknown_calls('{as_of.isoformat()}')"
            where = f"WHERE tenant = '{log.settings.tenant}'"
            return [r["call_id"] for r in await query(journal, f"SELECT * FROM {asked} {where}")]

        assert await unknown(until - timedelta(microseconds=1)) == []
        assert await unknown(until) == ["a"]


async def test_a_call_is_not_unknown_while_its_worker_has_the_lease(journal: Settings) -> None:
    async with connected(journal) as log:

        async def unknown(seconds: float) -> list[str]:
            [call] = await rows(journal, "tool_calls", log)
            as_of = call["started_at"] + timedelta(seconds=seconds)
            asked = f"agentjournal.unknown_calls('{as_of.isoformat()}')"
            where = f"WHERE tenant = '{log.settings.tenant}'"
            return [r["call_id"] for r in await query(journal, f"SELECT * FROM {asked} {where}")]

        await recorded(log, LeaseAcquired(holder="w-1", fence=2, lease_s=3_600))
        await recorded(log, begun("a", 60), fence=2)
        [call] = await rows(journal, "tool_calls", log)
        assert call["fence"] == 2
        assert [await unknown(61), await unknown(3_599)] == [[], []]
        assert await unknown(3_601) == ["a"]
        await recorded(log, LeaseReleased(fence=2), fence=2)
        assert [await unknown(59), await unknown(61)] == [[], ["a"]]


@pytest.mark.parametrize("task", [None, "deploy"])
async def test_a_step_is_not_unknown_while_its_worker_has_the_lease(
    journal: Settings, task: str | None
) -> None:
    step = StepStarted(plan_id="p", step_id="a", idempotency_key="k", lease_s=0.001)
    async with connected(journal) as log:

        async def unknown(as_of: str) -> list[str]:
            asked = f"agentjournal.unknown_steps({as_of})"
            where = f"WHERE tenant = '{log.settings.tenant}'"
            return [r["step_id"] for r in await query(journal, f"SELECT * FROM {asked} {where}")]

        fence = 2 if task is None else 1  # a session begins with an event of its own
        lease = LeaseAcquired(holder="w-1", fence=fence, lease_s=3_600)
        await recorded(log, lease, on_task=task)
        await recorded(log, step, on_task=task, fence=fence)
        assert await unknown("now() + interval '59 minutes'") == []
        assert await unknown("now() + interval '61 minutes'") == ["a"]
        await recorded(log, LeaseReleased(fence=fence), on_task=task, fence=fence)
        assert await unknown("now() + interval '1 minute'") == ["a"]
