"""Plans, steps, decisions and checkpoints in any order, as their writers' events."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

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
    StepCompleted,
    StepFailed,
    StepRolledBack,
    StepSettled,
    StepSkipped,
    StepStarted,
)
from agentjournal.events import Failure

plans = st.sampled_from(["p-1", "p-2"])
steps = st.sampled_from(["s-1", "s-2", "s-3"])
ordinals = st.integers(1, 2)
texts = st.text(st.sampled_from("a\0\ud800é😀"), max_size=3)
failures = st.sampled_from([Failure(message="late", type="timeout"), Failure(message="no\0")])
times = st.none() | st.sampled_from(["2026-01-31T12:00:00Z", "2026-02-01 00:00+02:00"])


def _planned(step_id: str, title: str, tool: str | None, depends_on: list[str]) -> PlannedStep:
    return PlannedStep(step_id=step_id, title=title, tool=tool, depends_on=depends_on)


_planned_steps = st.lists(
    st.builds(_planned, steps, texts, st.none() | st.just("mail"), st.lists(steps, max_size=2)),
    max_size=3,
)


def _of(model: Any, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = {"plan_id": plans, "step_id": steps, "attempt": ordinals, "attempt_group": ordinals}
    return st.builds(model, **named, **fields)


def _settled(outcome: str, error: Failure | None, **named: Any) -> StepSettled:
    return StepSettled(outcome=outcome, error=error, settled_by="person", **named)  # type: ignore[arg-type]


events: st.SearchStrategy[Event] = st.one_of(
    st.builds(PlanCreated, plan_id=plans, goal=texts, steps=_planned_steps),
    st.builds(PlanRevised, plan_id=plans, steps=_planned_steps, reason=texts),
    st.builds(PlanCompleted, plan_id=plans),
    st.builds(PlanAbandoned, plan_id=plans, reason=texts),
    _of(StepStarted, idempotency_key=st.just("k"), lease_s=st.sampled_from([1, 2.5, 1e18])),
    _of(StepCompleted, result=texts),
    _of(StepFailed, error=failures, retry_at=times),
    _of(_settled, outcome=st.sampled_from(["completed", "failed"]), error=st.none() | failures),
    _of(StepSkipped, reason=texts),
    _of(StepRolledBack, by_step=st.none() | steps),
    st.builds(
        DecisionMade, question=texts, choice=texts, reason=texts, by=st.sampled_from(["a", "b"])
    ),
    st.builds(
        CheckpointSaved,
        checkpoint_id=st.sampled_from(["c-1", "c-2"]),
        label=st.none() | texts,
        schema_version=ordinals,
        state=st.just({"n": 1}),
        artifact=st.none() | st.just("art"),
    ),
    st.builds(CheckpointRestored, checkpoint_id=st.sampled_from(["c-1", "c-2"])),
)
