"""What a plan's handle allows and refuses."""

from __future__ import annotations

import asyncio
from datetime import datetime

import pytest

from agentjournal import (
    AppendRejected,
    Event,
    NeedsVerification,
    NoOutcome,
    PlanCreated,
    PlannedStep,
    PlanRefused,
    Retry,
    StepCompleted,
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
            return event.model_copy(update={"goal": f"<{event.goal[:3]}"})
        return event

    async with clients.connected(redact=redact) as log:
        await log.session("s").plan("secret", STEPS, plan_id="p")
        plan = await log.session("s").plan("secret", STEPS, plan_id="p")
        assert plan.state.goal == "<sec"


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


class Flaky(Exception):
    """What fails now and then."""


async def test_a_recorded_failure_is_retried_when_it_is_due_under_a_new_key(
    clients: Clients,
) -> None:
    retry = Retry(max_attempts=2, backoff_s=[0.4], on=["Flaky"])
    async with clients.connected() as log:
        plan = await log.session("s").plan("g", [PlannedStep(step_id="a", title="t", retry=retry)])
        with pytest.raises(Flaky):
            await leave(plan, "a", Flaky("no"))
        assert await plan.next() == []
        first = plan.state.known["a"]
        assert await plan.changes_at() == datetime.fromisoformat(first.retry_at or "")
        with pytest.raises(PlanRefused, match="waits for its next attempt"):
            await run(plan, "a")
        await clients.time_passes(0.45)
        assert ids(await plan.next()) == ["a"]
        with pytest.raises(Flaky):
            await leave(plan, "a", Flaky("no"))
        assert await plan.next() == []
        assert await plan.changes_at() is None
        last = plan.state.known["a"]
        assert (last.status, last.attempt, last.attempt_group) == ("failed", 2, 2)
        assert last.idempotency_key != first.idempotency_key
        assert last.error is not None
        assert (last.error.type, last.error.message, last.error.code) == ("error", "no", "Flaky")


@pytest.mark.parametrize("error", [TimeoutError("late"), asyncio.CancelledError()])
async def test_what_is_cut_off_is_running_until_its_lease_has_passed(
    clients: Clients, error: BaseException
) -> None:
    async with clients.connected() as log:
        plan = await log.session("s").plan("g", [BUILD, DEPLOY])
        await run(plan, "build")
        with pytest.raises(type(error)):
            await leave(plan, "deploy", error, lease_s=5)
        assert await plan.next() == []
        for refused in (run(plan, "deploy"), plan.skip("deploy", "no")):
            with pytest.raises(PlanRefused, match="is run by somebody"):
                await refused
        await clients.time_passes(5)
        with pytest.raises(NeedsVerification):
            await plan.next()
