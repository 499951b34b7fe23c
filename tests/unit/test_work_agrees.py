"""What a state says of plans, notes and surroundings is what the read models say of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentjournal import Event, NoteSet, SessionState
from agentjournal.ids import Position
from agentjournal.planning import PlanState, StepState
from projections.environment import ENVIRONMENT
from projections.folding import Place, ProjectionFold
from projections.memory import MEMORY
from projections.plain_text import storable
from projections.plan import PLAN
from projections.projection import Projection
from projections.rows import Row
from tests.support import Stream, request, typed
from tests.unit import environment_strategies, memory_strategies, plan_strategies

_EXAMPLES = settings(max_examples=150)


def both(projection: Projection, given: list[Event]) -> tuple[SessionState, dict[str, list[Row]]]:
    stream = Stream()
    for each in given:
        stream.accept(request(typed(each)))
    recorded = [r._replace(position=Position(at)) for at, r in enumerate(stream.recorded)]
    state = SessionState(stream.stream)
    for event in recorded:
        state.apply(event)
    fold = ProjectionFold(projection)
    fold.places[stream.partition] = Place(Position(0), (-1, -1), "")
    changes = fold.fold({stream.partition: recorded}).changes
    return state, {t.name: changes.sorted_rows(t.name) for t in projection.tables}


def status_in_sql(row: Row) -> str:
    """Return what the view `steps` makes of a row."""
    begun = max(row.get("started_version") or 0, row.get("ended_version") or 0)
    skipped = row.get("skipped_version") or 0
    if (row.get("rolled_back_version") or 0) > max(begun, skipped):
        return "rolled_back"
    if row.get("outcome") == "completed":
        return "completed"
    return "skipped" if skipped > begun else row.get("outcome") or "open"


def text_of(text: str | None) -> str:
    return "" if text is None else storable(text)


def of_step(step: StepState, plan: PlanState) -> tuple[Any, ...]:
    planned, error = step.planned, step.error
    return (
        step.status,
        step.attempt_group << 64 | step.attempt,
        *(step.version, step.planned_version, step.planned_index),
        *(step.started_version, step.ended_version, step.skipped_version),
        *(step.rolled_back_version, text_of(step.rolled_back_by)),
        text_of(planned.title) if planned else "",
        step.idempotency_key,
        step.lease_until,
        error.type if error else None,
        step.retry_at,
        step.settled_by,
        step.step_id in plan.steps,
    )


def of_row(row: Row, planned_version: int | None) -> tuple[Any, ...]:
    get = row.get
    touched = ("started_version", "ended_version", "skipped_version", "rolled_back_version")
    in_plan = get("planned_version") is not None and get("planned_version") == planned_version
    return (
        status_in_sql(row),
        get("attempt") or 0,
        *(get("version"), get("planned_version"), get("planned_index")),
        *(get("started_version"), get("ended_version"), get("skipped_version")),
        *(get("rolled_back_version"), get("rolled_back_by") or ""),
        get("title") or "",
        get("idempotency_key"),
        get("lease_until"),
        get("error_type"),
        get("retry_at"),
        get("settled_by"),
        in_plan or any(get(name) is not None for name in touched),
    )


@_EXAMPLES
@given(st.lists(plan_strategies.events, max_size=14))
def test_plans_and_steps(given: list[Event]) -> None:
    state, rows = both(PLAN, given)
    plans = {row["plan_id"]: row for row in rows["plans"]}
    assert {p.plan_id for p in state.plans.values() if p.version is not None} == set(plans)
    for plan_id, row in plans.items():
        plan = state.plans[plan_id]
        assert (plan.version, plan.status, text_of(plan.goal), plan.planned_version) == (
            *(row["version"], row["status"], row.get("goal") or ""),
            row.get("planned_version"),
        )
        assert plan.revisions == (row.get("revisions") or 0)
        if plan.status != "open":
            assert text_of(plan.reason) == row["reason"]
            assert plan.ended_version == row["ended_version"]
    found = {
        (plan.plan_id, step.step_id): of_step(step, plan)
        for plan in state.plans.values()
        for step in plan.known.values()
    }
    assert found == {
        (row["plan_id"], row["step_id"]): of_row(
            row, plans.get(row["plan_id"], {}).get("planned_version")
        )
        for row in rows["steps"]
    }


@_EXAMPLES
@given(st.lists(plan_strategies.events, max_size=14))
def test_decisions_and_checkpoints(given: list[Event]) -> None:
    state, rows = both(PLAN, given)
    assert [(d.version, text_of(d.question), d.by) for d in state.decisions] == [
        (row["version"], row["question"], row["decided_by"]) for row in rows["decisions"]
    ]
    assert {
        c.checkpoint_id: (c.version, text_of(c.label), c.schema_version)
        for c in state.checkpoints.values()
    } == {
        row["checkpoint_id"]: (row["saved_version"], row["label"], row["state_schema_version"])
        for row in rows["checkpoints"]
        if row.get("saved_version") is not None
    }


@_EXAMPLES
@given(st.lists(memory_strategies.events, max_size=14))
def test_notes(given: list[Event]) -> None:
    state, rows = both(MEMORY, given)
    ended = max([row.get("version", 0) for row in rows["note_ends"]], default=0)
    assert {
        note.key: (
            note.version,
            -1.0 if note.ttl_s is None else float(note.ttl_s),
            note.recorded_at,
        )
        for note in state.notes.values()
    } == {
        row["key"]: (row["version"], row["ttl_s"], row["recorded_at"])
        for row in rows["notes"]
        if not row["deleted"] and row["version"] > ended
    }


@_EXAMPLES
@given(st.lists(environment_strategies.events, max_size=14))
def test_surroundings_and_processes(given: list[Event]) -> None:
    state, rows = both(ENVIRONMENT, given)
    around = state.environment
    named = [
        *(("variable", name, value) for name, value in around.variables.items()),
        *(("package", name, value) for name, value in around.packages.items()),
        *(
            (kind, "", value)
            for kind in ("cwd", "branch", "commit")
            if (value := getattr(around, kind)) is not None
        ),
    ]
    assert sorted((kind, storable(name), storable(value)) for kind, name, value in named) == sorted(
        (row["kind"], row["name"], row["value"]) for row in rows["environment"] if row["is_set"]
    )
    assert {
        p.process_id: (p.started_version, p.ended_version, p.exit_status, storable(p.command))
        for p in around.processes.values()
    } == {
        row["process_id"]: (
            *(row.get("started_version"), row.get("ended_version"), row.get("exit_status")),
            row.get("command") or "",
        )
        for row in rows["processes"]
    }
    assert {p.process_id for p in around.running} == {
        row["process_id"] for row in rows["processes"] if row.get("outcome") is None
    }


def test_a_note_holds_until_its_time_has_passed() -> None:
    state, _ = both(MEMORY, [NoteSet(key="k", value=1, ttl_s=2.5)])
    assert state.notes_at(datetime.fromisoformat("2026-01-31T12:00:02.499Z")) == {"k": 1}
    assert state.notes_at(datetime.fromisoformat("2026-01-31T12:00:02.500Z")) == {}
