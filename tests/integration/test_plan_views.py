"""The views of plans, steps, decisions and checkpoints, on real servers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agentjournal import (
    CheckpointRestored,
    CheckpointSaved,
    DecisionMade,
    Event,
    Log,
    PlanAbandoned,
    PlanCreated,
    PlannedStep,
    PlanRevised,
    StepCompleted,
    StepFailed,
    StepRolledBack,
    StepSettled,
    StepSkipped,
    StepStarted,
)
from agentjournal.events import Failure
from agentjournal.settings import Settings
from tests.servers import connected, query
from tests.views import recorded, rows

pytestmark = pytest.mark.stack


def step(step_id: str, **more: Any) -> PlannedStep:
    return PlannedStep(step_id=step_id, title=f"do {step_id}", **more)


def of(step_id: str, attempt: int = 1, group: int = 1) -> dict[str, Any]:
    return {"plan_id": "p", "step_id": step_id, "attempt": attempt, "attempt_group": group}


def begun(step_id: str, attempt: int = 1, group: int = 1, lease_s: float = 60) -> StepStarted:
    return StepStarted(**of(step_id, attempt, group), idempotency_key="k", lease_s=lease_s)


async def steps(settings: Settings, log: Log, *events: Event) -> dict[str, dict[str, Any]]:
    """Return the steps as the view shows them after these events, by their ids."""
    await recorded(log, *events)
    return {row["step_id"]: row for row in await rows(settings, "steps", log)}


async def test_a_plan_and_its_steps_are_rows(journal: Settings) -> None:
    arguments = {"to": ["x", None], "n": 2**70}
    planned = [
        step("a", tool="mail", arguments=arguments, effect="external"),
        step("b", depends_on=["a"], effect="read", compensation="undo"),
    ]
    async with connected(journal) as log:
        found = await steps(
            journal,
            log,
            PlanCreated(plan_id="p", goal="all of it", steps=planned),
            begun("a"),
            StepCompleted(**of("a"), result={"sent": True}),
        )
        [plan] = await rows(journal, "plans", log)
    assert (plan["plan_id"], plan["goal"], plan["status"]) == ("p", "all of it", "open")
    assert (plan["version"], plan["planned_version"], plan["revisions"]) == (2, 2, 0)
    assert (plan["reason"], plan["ended_at"], plan["task_id"]) == (None, None, None)
    a, b = found["a"], found["b"]
    assert (a["status"], a["attempt"], a["attempt_group"]) == ("completed", 1, 1)
    assert (a["tool"], a["effect"], a["result"]) == ("mail", "external", {"sent": True})
    assert a["arguments"] == {"to": ["x", None], "n": {"$int": str(2**70)}}
    assert (a["started_version"], a["ended_version"], a["version"]) == (3, 4, 2)
    assert a["lease_until"] - a["started_at"] == timedelta(seconds=60)
    assert a["started_at"] <= a["ended_at"]
    assert (b["status"], b["attempt"], b["tool"], b["started_at"]) == ("open", *[None] * 3)
    assert (b["depends_on"], b["compensation"], b["arguments"]) == (["a"], "undo", None)


async def test_a_revision_keeps_what_was_begun_and_drops_the_rest(journal: Settings) -> None:
    everything = [step(name) for name in ("done", "failed", "running", "skipped", "never", "kept")]
    revised = PlanRevised(plan_id="p", steps=[step("kept"), step("new")], reason="simpler")
    async with connected(journal) as log:
        found = await steps(
            journal,
            log,
            PlanCreated(plan_id="p", goal="g", steps=everything),
            StepCompleted(**of("done")),
            StepFailed(**of("failed"), error=Failure(message="no")),
            begun("running"),
            StepSkipped(**of("skipped"), reason="no need"),
            revised,
            PlanAbandoned(plan_id="p", reason="enough"),
        )
        [plan] = await rows(journal, "plans", log)
    assert {name: (row["status"], row["in_plan"]) for name, row in found.items()} == {
        "done": ("completed", False),
        "failed": ("failed", False),
        "running": ("open", False),
        "skipped": ("skipped", False),
        "kept": ("open", True),
        "new": ("open", True),
    }
    assert (plan["status"], plan["reason"], plan["revisions"]) == ("abandoned", "enough", 1)
    assert (plan["planned_version"], plan["ended_version"]) == (7, 8)


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([], "open"),
        ([begun("a")], "open"),
        ([begun("a"), StepFailed(**of("a"), error=Failure(message="no"))], "failed"),
        ([StepFailed(**of("a"), error=Failure(message="no")), begun("a", 1, 2)], "open"),
        ([StepSkipped(**of("a"), reason="r")], "skipped"),
        ([begun("a"), StepSkipped(**of("a"), reason="r")], "skipped"),
        ([StepSkipped(**of("a"), reason="r"), begun("a")], "open"),
        ([StepCompleted(**of("a")), StepSkipped(**of("a"), reason="r")], "completed"),
        ([StepSkipped(**of("a"), reason="r"), StepCompleted(**of("a"))], "completed"),
        ([StepCompleted(**of("a", 3)), StepRolledBack(**of("a"))], "rolled_back"),
        ([StepRolledBack(**of("a")), begun("a", 4)], "open"),
        (
            [begun("a"), StepSettled(**of("a"), outcome="failed", settled_by="verifier")],
            "failed",
        ),
    ],
)
async def test_the_status_of_a_step_is_what_happened_to_it_last(
    journal: Settings, events: list[Event], status: str
) -> None:
    async with connected(journal) as log:
        planned = PlanCreated(plan_id="p", goal="g", steps=[step("a")])
        found = await steps(journal, log, planned, *events)
    assert found["a"]["status"] == status


async def test_a_step_whose_lease_passed_is_unknown_as_of_then(journal: Settings) -> None:
    async with connected(journal) as log:
        found = await steps(
            journal, log, begun("a", lease_s=60), begun("b", lease_s=1e18), begun("c"),
            StepCompleted(**of("c")),
        )  # fmt: skip
        until = found["a"]["lease_until"]

        async def unknown(as_of: datetime) -> list[str]:
            asked = f"agentjournal.unknown_steps('{as_of.isoformat()}')"
            where = f"WHERE tenant = '{log.settings.tenant}'"
            return [r["step_id"] for r in await query(journal, f"SELECT * FROM {asked} {where}")]

        assert await unknown(until - timedelta(microseconds=1)) == []
        assert await unknown(until) == ["a"]
        assert await unknown(datetime(9999, 12, 31, tzinfo=UTC)) == ["a"]


async def test_decisions_and_checkpoints_are_rows(journal: Settings) -> None:
    async with connected(journal) as log:
        await recorded(
            log,
            DecisionMade(question="q", choice={"a": 1}, alternatives=["b"], reason="r", by="me"),
            CheckpointSaved(checkpoint_id="c", schema_version=2, state={"nul": "\0"}),
            CheckpointRestored(checkpoint_id="c"),
        )
        [decision] = await rows(journal, "decisions", log)
        [checkpoint] = await rows(journal, "checkpoints", log)
    assert (decision["choice"], decision["alternatives"]) == ({"a": 1}, ["b"])
    assert (decision["question"], decision["decided_by"], decision["version"]) == ("q", "me", 2)
    assert (checkpoint["state"], checkpoint["label"]) == ({"nul": "\u2400"}, None)
    assert (checkpoint["saved_version"], checkpoint["restored_version"]) == (3, 4)
    assert (checkpoint["restores"], checkpoint["state_schema_version"]) == (1, 2)


async def test_what_postgres_cannot_hold_is_no_absent_field(journal: Settings) -> None:
    [shown] = await query(
        journal,
        "SELECT agentjournal_internal.field('{\"a\": 1e999999}'::bytea, 'a') AS a,"
        " agentjournal_internal.field('{\"a\": null}'::bytea, 'b') AS b,"
        " agentjournal_internal.field('{\"a\": [{\"b\": 7}]}'::bytea, 'a', '0', 'b') AS c",
    )
    assert shown == {"a": {"$unreadable": True}, "b": None, "c": 7}
