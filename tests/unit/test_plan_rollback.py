"""What rolling back allows and refuses."""

from __future__ import annotations

import pytest

from agentjournal import (
    Attempt,
    NeedsVerification,
    NoOutcome,
    PlannedStep,
    PlanRefused,
    StepState,
)
from tests.clients import Clients, InMemory
from tests.planned import BUILD, DEPLOY, ids, leave, run


@pytest.fixture
def clients() -> Clients:
    """Return what connects to a log in memory."""
    return InMemory()


async def test_effects_are_undone_the_last_first(clients: Clients) -> None:
    steps = [
        PlannedStep(step_id="look", title="Look", effect="read"),
        PlannedStep(step_id="build", title="Build", compensation="remove"),
        PlannedStep(step_id="deploy", title="Deploy", tool="kubectl"),
        PlannedStep(step_id="never", title="Never"),
    ]
    undone: list[tuple[str, object, str]] = []

    async def undo(step: StepState, attempt: Attempt) -> str:
        undone.append((step.step_id, step.result, attempt.idempotency_key))
        return f"no {step.step_id}"

    async with clients.connected() as log:
        plan = await log.session("s").plan("ship", steps)
        for step in ("look", "build", "deploy"):
            await run(plan, step, f"did {step}")
        with pytest.raises(PlanRefused) as refused:
            await plan.roll_back({"remove": undo})
        assert ids(refused.value.steps) == ["deploy"]
        assert (await plan.refresh()).status == "open"
        state = await plan.roll_back({"remove": undo, "kubectl": undo}, reason="broken")
        assert [each[:2] for each in undone] == [("deploy", "did deploy"), ("build", "did build")]
        assert (state.status, state.reason) == ("abandoned", "broken")
        assert {s.step_id: (s.status, s.rolled_back_by) for s in state.steps.values()} == {
            "look": ("completed", None),
            "build": ("rolled_back", "undo:build"),
            "deploy": ("rolled_back", "undo:deploy"),
            "never": ("open", None),
            "undo:build": ("completed", None),
            "undo:deploy": ("completed", None),
        }
        assert state.known["undo:build"].result == "no build"
        await plan.roll_back({})
        assert len(undone) == 2
        assert len({key for *_, key in undone}) == 2


async def test_an_idempotent_compensation_is_run_again_under_its_key(clients: Clients) -> None:
    step = PlannedStep(step_id="a", title="a")
    keys: list[str] = []

    async def undo(_: StepState, attempt: Attempt) -> None:
        keys.append(attempt.idempotency_key)
        if len(keys) == 1:
            raise ConnectionError

    async with clients.connected() as log:
        plan = await log.session("s").plan("g", [step])
        await run(plan, "a")
        with pytest.raises(ConnectionError):
            await plan.roll_back({"a": undo}, effect="idempotent", lease_s=0.2)
        await clients.time_passes(0.3)
        await plan.roll_back({"a": undo}, effect="idempotent")
        assert keys[0] == keys[1]
        await plan.roll_back({"a": undo}, effect="idempotent")
        assert len(keys) == 2


async def test_what_has_nothing_to_undo_is_said_to_be_rolled_back(clients: Clients) -> None:
    async with clients.connected() as log:
        plan = await log.session("s").plan("g", [BUILD])
        await run(plan, "build")
        state = await plan.roll_back({"build": None})
        assert (state.steps["build"].status, state.status) == ("rolled_back", "abandoned")
        assert "undo:build" not in state.known


async def test_nothing_is_rolled_back_while_somebody_works_or_nobody_knows(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        plan = await log.session("s").plan("g", [DEPLOY.model_copy(update={"depends_on": []})])
        with pytest.raises(NoOutcome):
            await leave(plan, "deploy", None, lease_s=0.2)
        with pytest.raises(PlanRefused, match="somebody runs: deploy"):
            await plan.roll_back({"deploy": None})
        await clients.time_passes(0.3)
        with pytest.raises(NeedsVerification):
            await plan.roll_back({"deploy": None})
        assert (await plan.refresh()).status == "open"


async def test_what_undoes_a_step_is_left_to_who_runs_it(clients: Clients) -> None:
    def cut(_: StepState, __: Attempt) -> None:
        raise TimeoutError

    async with clients.connected() as log:
        plan = await log.session("s").plan("g", [BUILD])
        await run(plan, "build")
        with pytest.raises(TimeoutError):
            await plan.roll_back({"build": cut}, lease_s=5)
        with pytest.raises(PlanRefused, match="somebody runs: undo:build"):
            await plan.roll_back({"build": cut})
        began = plan.state.known["undo:build"].lease_until
        assert began is not None
        with pytest.raises(TimeoutError):
            await plan.roll_back({"build": cut}, wait_s=60)
        assert log.session("s").now() >= began
