"""Rolling back: what steps did is undone once, the last first, however often it is cut off."""

from __future__ import annotations

import pytest

from agentjournal import (
    Attempt,
    NeedsVerification,
    PlannedStep,
    StepState,
    ToolError,
)
from tests.clients import Clients
from tests.planned import ids, run


async def test_a_rollback_goes_on_where_it_was_cut_off(clients: Clients) -> None:
    steps = [PlannedStep(step_id=s, title=s) for s in ("a", "b", "c")]
    calls: list[tuple[str, str]] = []

    def sure(step: StepState, attempt: Attempt) -> None:
        calls.append((step.step_id, attempt.idempotency_key))

    def cut(step: StepState, attempt: Attempt) -> None:
        sure(step, attempt)
        raise TimeoutError

    def broken(step: StepState, attempt: Attempt) -> None:
        sure(step, attempt)
        raise ToolError("cannot")

    async with clients.connected() as log:
        plan = await log.session("s").plan("g", steps, plan_id="p")
        for step in ("a", "b", "c"):
            await run(plan, step)
        with pytest.raises(TimeoutError):
            await plan.roll_back({"c": sure, "b": cut, "a": sure}, lease_s=0.2)
        assert await plan.next() == []
        await clients.time_passes(0.3)
        later = await log.session("s").load_plan("p")
        with pytest.raises(NeedsVerification) as unknown:
            await later.roll_back({"c": sure, "b": sure, "a": sure})
        assert ids(unknown.value.calls) == ["undo:b"]
        await later.settle("undo:b", output="done")
        with pytest.raises(ToolError):
            await later.roll_back({"c": sure, "b": sure, "a": broken})
        state = await later.roll_back({"c": sure, "b": sure, "a": sure})
        assert [step for step, _ in calls] == ["c", "b", "a", "a"]
        assert len({key for _, key in calls}) == 4, "a recorded failure has a new key"
        assert {state.steps[s].status for s in ("a", "b", "c")} == {"rolled_back"}
