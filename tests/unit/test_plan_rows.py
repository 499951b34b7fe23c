"""The read model `plan`: the rows that plans, steps, decisions and checkpoints come to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from agentjournal import (
    CheckpointRestored,
    CheckpointSaved,
    DecisionMade,
    Event,
    PlanAbandoned,
    PlanCompleted,
    PlanCreated,
    PlannedStep,
    PlanRevised,
    SessionStarted,
    StepCompleted,
    StepFailed,
    StepRolledBack,
    StepSettled,
    StepSkipped,
    StepStarted,
)
from agentjournal.events import Failure
from agentjournal.ids import stream_id
from projections.plan import PLAN
from projections.rows import Row
from tests.unit.folded_rows import BEGAN, at, rows_of, whole_rows


def created(*steps: str) -> PlanCreated:
    planned = [PlannedStep(step_id=s, title=f"do {s}", effect="read") for s in steps]
    return PlanCreated(plan_id="p", goal="all\0", steps=planned)


def begun(attempt: int = 1, group: int = 1) -> StepStarted:
    key = f"k-{group}"
    return StepStarted(**named(attempt, group), idempotency_key=key, lease_s=1.5)


def named(attempt: int = 1, group: int = 1) -> dict[str, Any]:
    return {"plan_id": "p", "step_id": "a", "attempt": attempt, "attempt_group": group}


def failed(attempt: int = 1, group: int = 1) -> StepFailed:
    error = Failure(type="timeout", message="late")
    return StepFailed(**named(attempt, group), error=error, retry_at="2026-02-01T00:00:00Z")


def only(table: str, *events: Event) -> Row:
    [row] = rows_of(PLAN, *events)[table]
    return row


def test_a_plan_is_a_row_and_each_of_its_steps_is_one() -> None:
    found = rows_of(PLAN, created("a", "b"))
    assert found["plans"] == [
        {
            "plan_id": "p",
            "version": 1,
            "goal": "all\u2400",
            "planned_version": 1,
            "status": "open",
            "created_at": at(0),
        }
    ]
    steps = {row["step_id"]: row for row in found["steps"]}
    assert steps["b"] == {
        "plan_id": "p",
        "step_id": "b",
        "version": 1,
        "planned_version": 1,
        "planned_index": 1,
        "title": "do b",
        "tool": "",
        "effect": "read",
    }
    assert steps["a"]["planned_index"] == 0


def test_a_revision_says_which_steps_there_are_from_here_on() -> None:
    revised = PlanRevised(
        plan_id="p",
        steps=[PlannedStep(step_id="b", title="other", tool="mail", effect="external")],
        reason="new",
    )
    found = rows_of(PLAN, created("a", "b"), revised)
    [plan] = found["plans"]
    assert (plan["planned_version"], plan["revisions"], plan["revised_at"]) == (2, 1, at(1))
    steps = {row["step_id"]: row for row in found["steps"]}
    assert (steps["a"]["planned_version"], steps["b"]["planned_version"]) == (1, 2)
    assert (steps["b"]["title"], steps["b"]["tool"], steps["b"]["planned_index"]) == (
        *("other", "mail"),
        0,
    )
    assert steps["b"]["version"] == 1


def test_a_revision_can_take_a_tool_away() -> None:
    with_tool = [PlannedStep(step_id="a", title="a", tool="mail")]
    without = [PlannedStep(step_id="a", title="a")]
    step = only(
        "steps",
        PlanCreated(plan_id="p", goal="g", steps=with_tool),
        PlanRevised(plan_id="p", steps=without, reason="r"),
    )
    assert step["tool"] == ""


@pytest.mark.parametrize(
    ("events", "status", "reason"),
    [
        ([PlanCompleted(plan_id="p")], "completed", ""),
        ([PlanAbandoned(plan_id="p", reason="no\0")], "abandoned", "no\u2400"),
        ([PlanAbandoned(plan_id="p", reason="no"), PlanCompleted(plan_id="p")], "completed", ""),
    ],
)
def test_a_plan_ends_well_or_is_given_up(events: list[Event], status: str, reason: str) -> None:
    plan = only("plans", created(), *events)
    assert (plan["status"], plan["reason"]) == (status, reason)
    assert (plan["ended_version"], plan["ended_at"]) == (len(events) + 1, at(len(events)))


def test_a_plan_that_is_revised_after_its_end_goes_on() -> None:
    revised = PlanRevised(plan_id="p", steps=[], reason="more")
    assert only("plans", created(), PlanCompleted(plan_id="p"), revised)["status"] == "open"


def test_a_step_goes_from_planned_over_started_to_its_outcome() -> None:
    step = only("steps", created("a"), begun(), StepCompleted(**named(), result="x"))
    assert step == {
        "plan_id": "p",
        "step_id": "a",
        "version": 1,
        "planned_version": 1,
        "planned_index": 0,
        "title": "do a",
        "tool": "",
        "effect": "read",
        "attempt": 2**64 + 1,
        "idempotency_key": "k-1",
        "started_version": 2,
        "started_at": at(1),
        "lease_until": BEGAN + timedelta(seconds=2.5),
        "fence": 0,
        "outcome": "completed",
        "ended_version": 3,
        "ended_at": at(2),
    }


def test_a_failure_says_what_failed_and_when_to_try_again() -> None:
    step = only("steps", begun(), failed())
    assert (step["outcome"], step["error_type"], step["error_message"], step["retry_at"]) == (
        *("failed", "timeout", "late"),
        "2026-02-01T00:00:00Z",
    )


@pytest.mark.parametrize("again", [begun(2, 2), begun(1, 2), begun(2, 1)])
def test_a_new_attempt_opens_the_step_again_wherever_its_count_begins(again: StepStarted) -> None:
    step = only("steps", begun(), failed(), again)
    assert not {"outcome", "ended_version", "error_type", "retry_at"} & set(step)
    assert (step["started_version"], step["idempotency_key"]) == (3, again.idempotency_key)


@pytest.mark.parametrize("late", [failed(1, 1), failed(9, 1), begun(9, 1)])
def test_what_belongs_to_an_earlier_attempt_comes_too_late(late: Event) -> None:
    assert only("steps", begun(1, 2), late) == only("steps", begun(1, 2))


def test_the_first_outcome_of_an_attempt_stands() -> None:
    step = only("steps", begun(), StepCompleted(**named()), failed())
    assert (step["outcome"], step["ended_version"], "error_type" in step) == ("completed", 2, False)


def test_what_was_unknown_is_settled_by_somebody() -> None:
    settled = StepSettled(**named(), outcome="completed", output="was done", settled_by="person")
    step = only("steps", begun(), settled)
    assert (step["outcome"], step["settled_by"], step["ended_version"]) == (
        "completed",
        "person",
        2,
    )


def test_skipping_and_rolling_back_are_of_the_step_whatever_its_attempt() -> None:
    skipped = StepSkipped(plan_id="p", step_id="a", reason="no need\0")
    undone = StepRolledBack(plan_id="p", step_id="a", by_step="b")
    step = only("steps", begun(3), skipped, undone)
    assert (step["skipped_version"], step["skipped_at"]) == (2, at(1))
    assert step["skip_reason"] == "no need\u2400"
    assert (step["rolled_back_version"], step["rolled_back_at"]) == (3, at(2))
    assert (step["rolled_back_by"], step["started_version"]) == ("b", 1)


def test_decisions_are_rows_of_their_own() -> None:
    made = DecisionMade(question="which?", choice=1, alternatives=[2], reason="r", by="planner")
    first, second = rows_of(PLAN, made, made)["decisions"]
    assert first == {
        "version": 1,
        "question": "which?",
        "reason": "r",
        "decided_by": "planner",
        "decided_at": at(0),
    }
    assert second["version"] == 2


def test_a_saved_checkpoint_stays_as_it_was_saved_and_counts_how_often_it_was_used() -> None:
    saved = CheckpointSaved(checkpoint_id="c", label="one", schema_version=3, state={"a": 1})
    again = CheckpointSaved(checkpoint_id="c", schema_version=4, artifact="art")
    restored = CheckpointRestored(checkpoint_id="c")
    assert only("checkpoints", saved, again, restored, restored) == {
        "checkpoint_id": "c",
        "version": 1,
        "saved_version": 1,
        "saved_at": at(0),
        "label": "one",
        "state_schema_version": 3,
        "artifact": "",
        "restores": 2,
        "restored_version": 4,
        "restored_at": at(3),
    }


def test_a_row_says_whether_it_is_a_session_s_or_a_task_s() -> None:
    task = whole_rows(PLAN, created(), stream=stream_id("task", "acme", "t/1"))["plans"][0]
    assert (task["tenant"], task["task_id"], "session_id" in task) == ("acme", "t/1", False)
    session = whole_rows(PLAN, created())["plans"][0]
    assert (session["tenant"], session["session_id"]) == ("default", "s-1")
    assert "task_id" not in session


def test_other_events_are_passed_over() -> None:
    assert not any(rows_of(PLAN, SessionStarted(agent="a")).values())
    assert PLAN.kinds == {"session", "task"}
