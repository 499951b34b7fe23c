"""Which steps may run, and what the next attempt of one is: for any course of events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal import (
    Event,
    Failure,
    NeedsVerification,
    PlanCreated,
    PlannedStep,
    PlanRefused,
    Retry,
    SessionState,
    StepCompleted,
    StepFailed,
    StepSettled,
    StepSkipped,
    StepStarted,
)
from agentjournal.ids import Version, stream_id
from agentjournal.plan_decisions import beginning, creation, next_steps, revision
from agentjournal.plan_rules import changes_at, retry_at, standing, to_undo, undo_id
from agentjournal.planning import Moment, PlanState, StepState
from tests.support import BEGAN_MS, Stream, request, typed
from tests.unit import plan_strategies
from tests.unit.event_strategies import values

BEGAN = datetime.fromtimestamp(BEGAN_MS / 1_000, UTC)
STREAM = Stream().stream


def state_of(*events: Event) -> SessionState:
    """Return what the events come to, a second apart."""
    stream = Stream()
    for each in events:
        stream.accept(request(typed(each)))
    state = SessionState(stream.stream)
    for recorded in stream.recorded:
        state.apply(recorded)
    return state


def plan_of(*events: Event, effect: str = "external", retry: Retry | None = None) -> PlanState:
    step = PlannedStep(step_id="a", title="a", effect=effect, retry=retry)  # type: ignore[arg-type]
    return state_of(PlanCreated(plan_id="p", goal="g", steps=[step]), *events).plans["p"]


def begun(attempt: int = 1, group: int = 1, lease_s: float = 60) -> StepStarted:
    return StepStarted(
        plan_id="p",
        step_id="a",
        attempt=attempt,
        attempt_group=group,
        idempotency_key=f"k-{group}",
        lease_s=lease_s,
    )


def failed(retry_at: str | None = None) -> StepFailed:
    return StepFailed(plan_id="p", step_id="a", error=Failure(message="no"), retry_at=retry_at)


def settled(code: str | None = None) -> StepSettled:
    error = Failure(message="no", code=code)
    return StepSettled(
        plan_id="p", step_id="a", outcome="failed", error=error, settled_by="verifier"
    )


def at(seconds: float, held_from: int | None = None) -> Moment:
    return Moment(BEGAN + timedelta(seconds=seconds), held_from)


TWICE = Retry(max_attempts=2)


@pytest.mark.parametrize(
    ("events", "effect", "retry", "seconds", "expected"),
    [
        ([], "external", None, 0, "ready"),
        ([begun(lease_s=5)], "external", None, 5.999, "running"),
        ([begun(lease_s=5)], "external", None, 6, "unknown"),
        ([begun(lease_s=5)], "idempotent", None, 5.999, "running"),
        ([begun(lease_s=5)], "idempotent", None, 6, "ready"),
        ([begun(lease_s=5)], "read", None, 6, "ready"),
        ([begun(lease_s=5), begun(2, lease_s=5)], "read", TWICE, 7, "unknown"),
        ([begun(lease_s=1e18)], "read", None, 1e9, "running"),
        ([begun(), failed()], "read", TWICE, 1e9, "failed"),
        ([begun(), failed("2026-01-31T12:00:30Z")], "external", None, 29.999, "waiting"),
        ([begun(), failed("2026-01-31T12:00:30Z")], "external", None, 30, "ready"),
        ([begun(), settled()], "external", None, 9, "failed"),
        ([begun(), settled()], "external", TWICE, 9, "ready"),
        ([begun(), settled()], "external", Retry(max_attempts=1), 9, "failed"),
        ([begun(), settled()], "external", Retry(max_attempts=9, on=["late"]), 9, "failed"),
        ([begun(), settled("not_done")], "external", None, 9, "ready"),
        ([begun(), StepCompleted(plan_id="p", step_id="a")], "read", None, 9, "finished"),
        ([StepSkipped(plan_id="p", step_id="a", reason="r")], "read", None, 9, "finished"),
    ],
)
def test_what_may_be_done_with_a_step(
    events: list[Event], effect: str, retry: Retry | None, seconds: float, expected: str
) -> None:
    plan = plan_of(*events, effect=effect, retry=retry)
    assert standing(plan, plan.steps["a"], at(seconds)) == expected


def test_by_itself_something_changes_when_a_lease_passes_or_a_retry_is_due() -> None:
    plan = plan_of(begun(lease_s=5))
    assert changes_at(plan, at(2)) == at(6).at
    assert changes_at(plan, at(6)) is None
    due = plan_of(begun(), failed("2026-01-31T12:00:30Z"))
    assert changes_at(due, at(2)) == at(30).at
    assert changes_at(due, at(30)) is None


@pytest.mark.parametrize("effect", ["read", "external"])
def test_what_was_begun_while_another_has_held_the_stream_is_run_by_it(effect: str) -> None:
    plan = plan_of(begun(lease_s=5), effect=effect)
    step = plan.steps["a"]
    assert step.started_version == 2
    assert standing(plan, step, at(9, held_from=1)) == "running"
    assert standing(plan, step, at(9, held_from=2)) != "running", "it was begun before"
    assert changes_at(plan, at(9, held_from=1)) is None


@pytest.mark.parametrize(
    ("group", "expected"), [(1, "12:00:01.000"), (2, "12:01:00.000"), (3, "12:01:00.000")]
)
def test_the_last_wait_repeats(group: int, expected: str) -> None:
    retry = Retry(max_attempts=9, backoff_s=[1, 60])
    tried = StepState("a", Version(1), attempt=group, attempt_group=group)
    assert retry_at(retry, tried, {"error"}, BEGAN) == f"2026-01-31T{expected}Z"
    assert retry_at(Retry(max_attempts=9), tried, {"error"}, BEGAN) == "2026-01-31T12:00:00.000Z"
    far = Retry(max_attempts=9, backoff_s=[1e18])
    assert retry_at(far, tried, {"error"}, BEGAN) == "9999-12-31T23:59:59.000Z"


def test_a_failure_begins_a_new_group_and_key_and_what_is_unknown_does_not() -> None:
    first = beginning(STREAM, plan_of(), "a", at(0), 60)
    assert (first.attempt, first.attempt_group) == (1, 1)
    unknown = beginning(STREAM, plan_of(begun(lease_s=1), effect="read"), "a", at(9), 60)
    assert (unknown.attempt, unknown.attempt_group, unknown.idempotency_key) == (2, 1, "k-1")
    again = plan_of(begun(), failed("2026-01-31T12:00:00Z"))
    second = beginning(STREAM, again, "a", at(9), 60)
    assert (second.attempt, second.attempt_group) == (2, 2)
    assert second.idempotency_key not in {first.idempotency_key, "k-1"}
    not_done = beginning(STREAM, plan_of(begun(), settled("not_done")), "a", at(9), 60)
    assert (not_done.attempt, not_done.attempt_group, not_done.idempotency_key) == (2, 1, "k-1")


def test_keys_of_different_steps_plans_and_streams_differ() -> None:
    steps = [PlannedStep(step_id=s, title="t") for s in ("a", "b", "q:a")]
    plans = state_of(
        PlanCreated(plan_id="p", goal="g", steps=steps),
        PlanCreated(plan_id="p:q", goal="g", steps=steps),
    ).plans
    keys = [
        beginning(stream, plan, step.step_id, at(0), 60).idempotency_key
        for stream in (STREAM, stream_id("task", "default", "s-1"))
        for plan in plans.values()
        for step in steps
    ]
    assert len(set(keys)) == 12


@given(st.lists(plan_strategies.events, max_size=14), st.floats(0, 100))
def test_a_step_is_begun_exactly_when_it_is_next_and_a_later_attempt_than_all(
    given: list[Event], seconds: float
) -> None:
    for plan in state_of(*given).plans.values():
        try:
            allowed = {step.step_id for step in next_steps(STREAM, plan, at(seconds))}
        except NeedsVerification:
            allowed = set[str]()
        begun: set[str] = set()
        for step in plan.known.values():
            try:
                event = beginning(STREAM, plan, step.step_id, at(seconds), 60)
            except (NeedsVerification, PlanRefused):
                continue
            begun.add(step.step_id)
            assert (event.attempt_group, event.attempt) > (step.attempt_group, step.attempt)
            assert (event.idempotency_key == step.idempotency_key) == (
                event.attempt_group == step.attempt_group and step.idempotency_key is not None
            )
        assert begun == allowed


@given(st.lists(plan_strategies.events, max_size=14))
def test_a_step_that_is_begun_is_not_begun_again(given: list[Event]) -> None:
    for plan in state_of(*given).plans.values():
        for step in next_steps_or_none(plan):
            event = beginning(STREAM, plan, step.step_id, at(20), 60)
            after = state_of(*given, event).plans[plan.plan_id]
            assert standing(after, after.known[step.step_id], at(20)) == "running"


def next_steps_or_none(plan: PlanState) -> list[StepState]:
    try:
        return next_steps(STREAM, plan, at(20))
    except NeedsVerification:
        return []


def test_what_undoes_a_step_has_a_name_that_fits_and_is_not_undone_itself() -> None:
    assert undo_id("a") == "undo:a"
    longest = undo_id("é" * 255)
    assert len(longest) == 69
    assert undo_id("é" * 254) != longest
    done = [StepCompleted(plan_id="p", step_id=s) for s in ("a", "b", "undo:b")]
    assert [step.step_id for step in to_undo(plan_of(*done))] == ["b", "a"]


@given(values, st.booleans())
def test_a_plan_is_known_again_whatever_its_steps_hold(value: Any, given: bool) -> None:
    fields = {"arguments": value, "compensation": value} if given else {}
    steps = [PlannedStep(step_id="a", title="\0\ud800", retry=TWICE, **fields)]
    wanted = PlanCreated(plan_id="p", goal="g", steps=steps)
    plan = state_of(wanted).plans["p"]
    assert creation(STREAM, plan, wanted) == []
    assert revision(STREAM, plan, steps, "the same") == []
    other = PlanCreated(plan_id="p", goal="g", steps=[*steps, PlannedStep(step_id="b", title="t")])
    with pytest.raises(PlanRefused):
        creation(STREAM, plan, other)
