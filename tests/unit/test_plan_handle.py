"""What a plan's handle allows and refuses."""

from __future__ import annotations

import pytest

from agentjournal import (
    AppendRejected,
    Attempt,
    Event,
    NeedsVerification,
    NoOutcome,
    PlanCreated,
    PlannedStep,
    PlanRefused,
    Retry,
    StepCompleted,
    StepState,
    ToolError,
)
from tests.clients import Clients, InMemory
from tests.planned import BUILD, DEPLOY, STEPS, ids, leave, run


@pytest.fixture
def clients() -> Clients:
    """Return what connects to a log in memory."""
    return InMemory()


async def test_a_plan_that_is_redacted_is_the_same_plan_all_the_same(clients: Clients) -> None:
    def redact(event: Event) -> Event:
        if isinstance(event, PlanCreated):
            return event.model_copy(update={"goal": "…"})
        return event

    async with clients.connected(redact=redact) as log:
        await log.session("s").plan("secret", STEPS, plan_id="p")
        plan = await log.session("s").plan("secret", STEPS, plan_id="p")
        assert plan.state.goal == "…"


async def test_an_error_that_the_policy_does_not_name_is_not_retried(clients: Clients) -> None:
    retry = Retry(max_attempts=5, on=["timeout", "OSError"])
    steps = [PlannedStep(step_id=s, title="t", effect="read", retry=retry) for s in "abc"]
    async with clients.connected() as log:
        plan = await log.session("s").plan("g", steps)
        with pytest.raises(ValueError, match="x"):
            await leave(plan, "a", ValueError("x"))
        with pytest.raises(TimeoutError):
            await leave(plan, "b", TimeoutError())
        with pytest.raises(FileNotFoundError):
            await leave(plan, "c", FileNotFoundError())
        assert ids(await plan.next()) == ["b", "c"]


async def test_a_step_that_may_be_run_again_is_run_again_under_the_same_key(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        plan = await log.session("s").plan("ship", STEPS)
        with pytest.raises(NoOutcome):
            await leave(plan, "build", None, lease_s=0.2)
        assert await plan.next() == []
        await clients.time_passes(0.3)
        [again] = await plan.next()
        assert (await run(plan, "build")).idempotency_key == again.idempotency_key


async def test_what_was_settled_first_stands(clients: Clients) -> None:
    async with clients.connected() as log:
        plan = await log.session("s").plan("ship", [BUILD])
        with pytest.raises(PlanRefused, match="was not begun"):
            await plan.settle("build", output="x")
        async with plan.run("build") as attempt:
            first = await plan.settle("build", output={"id": 7}, evidence="seen")
            assert (first.status, first.result) == ("completed", '{"id":7}')
            again = await plan.settle("build", error="no")
            assert again == first
            await attempt.fail(ToolError("too late"))
        assert (await plan.refresh()).steps["build"] == first


async def test_a_step_that_is_not_needed_lets_others_run(clients: Clients) -> None:
    async with clients.connected() as log:
        plan = await log.session("s").plan("ship", STEPS)
        await plan.skip("build", "there already")
        await plan.skip("build", "twice is once")
        assert ids(await plan.next()) == ["deploy"]
        with pytest.raises(PlanRefused, match="is finished"):
            await run(plan, "build")
        assert (await plan.refresh()).steps["build"].skip_reason == "there already"


async def test_a_revision_keeps_what_is_finished(clients: Clients) -> None:
    check = PlannedStep(step_id="check", title="Check", depends_on=["build"], effect="read")
    async with clients.connected() as log:
        plan = await log.session("s").plan("ship", STEPS)
        await run(plan, "build", "image")
        async with plan.run("deploy") as attempt:
            with pytest.raises(PlanRefused) as refused:
                await plan.revise([check], "no deploy")
            assert ids(refused.value.steps) == ["deploy"]
            other = DEPLOY.model_copy(update={"title": "Other"})
            with pytest.raises(PlanRefused, match="cannot become other"):
                await plan.revise([other, check], "other deploy")
            await plan.revise([DEPLOY, check], "check too")
            await plan.revise([DEPLOY, check], "check too")
            await attempt.complete()
        state = await plan.refresh()
        assert (list(state.steps), state.revisions) == (["build", "deploy", "check"], 1)
        assert state.steps["build"].result == "image"
        assert ids(await plan.next()) == ["check"]


async def test_a_plan_ends_when_its_steps_have(clients: Clients) -> None:
    async with clients.connected() as log:
        plan = await log.session("s").plan("ship", STEPS)
        with pytest.raises(PlanRefused) as refused:
            await plan.complete()
        assert ids(refused.value.steps) == ["build", "deploy", "notify"]
        for step in STEPS:
            await plan.skip(step, "no need")
        await plan.complete()
        await plan.complete()
        await plan.abandon("after all")
        await plan.abandon("again")
        with pytest.raises(PlanRefused, match="is abandoned"):
            await plan.complete()
        assert (await plan.refresh()).reason == "after all"
        assert await plan.next() == []
        with pytest.raises(PlanRefused, match="is abandoned"):
            await run(plan, "build")


@pytest.mark.parametrize(
    ("steps", "path"),
    [
        ([BUILD, BUILD], "steps[1].step_id"),
        ([DEPLOY], "steps[0].depends_on[0]"),
        ([BUILD.model_copy(update={"depends_on": ["deploy"]}), DEPLOY], "steps[0].depends_on"),
        ([BUILD.model_copy(update={"step_id": "undo:x"})], "steps[0].step_id"),
    ],
)
async def test_what_is_no_plan_is_refused_by_its_place(
    clients: Clients, steps: list[PlannedStep], path: str
) -> None:
    async with clients.connected() as log:
        with pytest.raises(AppendRejected) as refused:
            await log.session("s").plan("g", steps)
        assert refused.value.path == path


async def test_an_outcome_is_given_once(clients: Clients) -> None:
    async with clients.connected() as log:
        plan = await log.session("s").plan("g", [BUILD])
        async with plan.run("build") as attempt:
            await attempt.complete(1)
            with pytest.raises(ValueError, match="was given an outcome already"):
                await attempt.complete(2)
            assert isinstance(attempt.outcome, StepCompleted)


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


async def test_what_who_holds_the_task_began_is_left_to_it(clients: Clients) -> None:
    async with clients.connected() as log:
        other = log.task("t")
        async with log.task("t").lease(worker="one", lease_s=60) as held:
            plan = await held.plan("ship", STEPS, plan_id="p")
            with pytest.raises(NoOutcome):
                await leave(plan, "build", None, lease_s=5)
            await clients.time_passes(10)
            beside = await other.load_plan("p")
            assert await beside.next() == []
            with pytest.raises(PlanRefused, match="is run by somebody"):
                await run(beside, "build")
            assert ids(await plan.next()) == ["build"], "it knows itself that it does not run it"
        assert ids(await beside.next()) == ["build"]


async def test_waiting_ends_when_a_step_may_run_or_none_ever_will(clients: Clients) -> None:
    retry = Retry(max_attempts=2, backoff_s=[30])
    steps = [
        PlannedStep(step_id="a", title="a", retry=retry),
        PlannedStep(step_id="b", title="b", depends_on=["a"]),
    ]
    async with clients.connected() as log:
        session = log.session("s")
        plan = await session.plan("g", steps)
        with pytest.raises(ToolError):
            await leave(plan, "a", ToolError("no"))
        began = session.now()
        assert await plan.next(wait_s=20) == []
        assert 20 <= (session.now() - began).total_seconds() < 21
        assert ids(await plan.next(wait_s=100)) == ["a"]
        assert 29.9 <= (session.now() - began).total_seconds() < 31
        with pytest.raises(ToolError):
            await leave(plan, "a", ToolError("no"))
        failed = session.now()
        assert await plan.next(wait_s=100) == []
        assert (session.now() - failed).total_seconds() < 1, "b waits for what failed for good"
