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


async def test_a_lease_runs_from_when_it_was_last_renewed(journal: Settings) -> None:
    async with connected(journal) as log:
        await recorded(
            log,
            LeaseAcquired(holder="w-1", fence=2, lease_s=60.5),
            LeaseAcquired(holder="w-2", fence=3, lease_s=2**63 - 1),
            LeaseRenewed(fence=2),
            LeaseReleased(fence=3),
        )
        one, two = await rows(journal, "leases", log)
    assert (one["holder"], one["fence"], one["renewals"]) == ("w-1", 2, 1)
    assert one["lease_until"] - one["renewed_at"] == timedelta(seconds=60.5)
    assert (two["lease_until"], two["released_version"], two["renewals"]) == (None, 5, 0)


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
