"""Plans: steps run once, in their order, and go on wherever they were left."""

from __future__ import annotations

import asyncio

import pytest

import agentjournal as aj
from agentjournal import (
    NeedsVerification,
    NoOutcome,
    PlannedStep,
    PlanRefused,
    Retry,
    StepCompleted,
    ToolError,
)
from agentjournal.attempts import Attempt
from agentjournal.planning import StepState
from tests.clients import Clients

BUILD = PlannedStep(step_id="build", title="Build", effect="idempotent")
DEPLOY = PlannedStep(step_id="deploy", title="Deploy", depends_on=["build"])
NOTIFY = PlannedStep(step_id="notify", title="Tell", depends_on=["deploy"], effect="read")
STEPS = [BUILD, DEPLOY, NOTIFY]


def ids(steps: list[StepState]) -> list[str]:
    return [step.step_id for step in steps]


async def test_steps_run_in_the_order_of_their_dependencies(clients: Clients) -> None:
    async with clients.connected() as log:
        plan = await log.session("s").plan("ship", STEPS)
        ran: list[str] = []
        while steps := await plan.next():
            for step in steps:
                async with plan.run(step) as attempt:
                    ran.append(step.step_id)
                    await attempt.complete({"n": 2**70})
        await plan.complete()
        assert ran == ["build", "deploy", "notify"]
        state = (await log.session("s").load()).plans[plan.plan_id]
        assert (state.goal, state.status) == ("ship", "completed")
        assert [s.result for s in state.steps.values()] == [{"n": 2**70}] * 3


async def test_steps_that_wait_for_nothing_run_at_once(clients: Clients) -> None:
    steps = [PlannedStep(step_id=f"s-{n}", title="t", effect="read") for n in range(4)]
    async with clients.connected() as log:
        plan = await log.session("s").plan("all", steps)

        async def run(step: StepState) -> None:
            async with plan.run(step) as attempt:
                await asyncio.sleep(0)
                await attempt.complete(step.step_id)

        await asyncio.gather(*map(run, await plan.next()))
        state = await plan.refresh()
        assert [s.result for s in state.steps.values()] == ["s-0", "s-1", "s-2", "s-3"]
        assert await plan.next() == []


async def test_a_plan_asked_for_again_is_the_same_plan(clients: Clients) -> None:
    async with clients.connected() as log:
        first = await log.session("s").plan("ship", STEPS, plan_id="p")
        async with first.run("build") as attempt:
            await attempt.complete()
        again = await log.session("s").plan("ship", STEPS, plan_id="p")
        assert ids(await again.next()) == ["deploy"]
        assert (await log.session("s").load_plan("p")).state == await again.refresh()
        with pytest.raises(PlanRefused):
            await log.session("s").plan("ship", STEPS[:2], plan_id="p")
        with pytest.raises(PlanRefused):
            await log.session("s").plan("other", STEPS, plan_id="p")
        with pytest.raises(aj.PlanNotFound):
            await log.session("s").load_plan("q")


async def test_a_plan_that_is_redacted_is_the_same_plan_all_the_same(clients: Clients) -> None:
    def redact(event: aj.Event) -> aj.Event:
        if isinstance(event, aj.PlanCreated):
            return event.model_copy(update={"goal": "…"})
        return event

    async with clients.connected(redact=redact) as log:
        await log.session("s").plan("secret", STEPS, plan_id="p")
        plan = await log.session("s").plan("secret", STEPS, plan_id="p")
        assert plan.state.goal == "…"


async def test_of_two_who_start_a_step_one_does(clients: Clients) -> None:
    async with clients.connected() as one, clients.connected(tenant=one.settings.tenant) as two:
        await one.session("s").plan("ship", STEPS, plan_id="p")
        plans = [await log.session("s").load_plan("p") for log in (one, two)]
        ran: list[str] = []

        async def run(number: int) -> None:
            async with plans[number].run("build") as attempt:
                ran.append(attempt.idempotency_key)
                await attempt.complete(number)

        found = await asyncio.gather(run(0), run(1), return_exceptions=True)
        assert [type(each) for each in found if each is not None] == [PlanRefused]
        assert len(ran) == 1


async def test_a_recorded_failure_is_retried_when_it_is_due_under_a_new_key(
    clients: Clients,
) -> None:
    retry = Retry(max_attempts=2, backoff_s=[0.4], on=["Flaky"])
    step = PlannedStep(step_id="a", title="t", retry=retry)

    class Flaky(Exception):
        pass

    async with clients.connected() as log:
        plan = await log.session("s").plan("g", [step])
        keys: list[str] = []

        async def fail() -> None:
            with pytest.raises(Flaky):
                async with plan.run("a") as attempt:
                    keys.append(attempt.idempotency_key)
                    raise Flaky("no")

        await fail()
        assert await plan.next() == []
        due = await plan.changes_at()
        assert due is not None
        with pytest.raises(PlanRefused, match="waits for its next attempt"):
            await fail()
        await clients.time_passes(0.45)
        assert ids(await plan.next()) == ["a"]
        await fail()
        assert await plan.next() == []
        assert await plan.changes_at() is None
        [left] = plan.state.steps.values()
        assert (left.status, left.attempt, left.attempt_group, left.retry_at) == (
            "failed",
            2,
            2,
            None,
        )
        assert left.error is not None
        assert (left.error.type, left.error.message, left.error.code) == ("error", "no", "Flaky")
        assert len(set(keys)) == 2


async def test_an_error_that_the_policy_does_not_name_is_not_retried(clients: Clients) -> None:
    retry = Retry(max_attempts=5, on=["timeout", "OSError"])
    steps = [PlannedStep(step_id=s, title="t", effect="read", retry=retry) for s in ("a", "b", "c")]
    async with clients.connected() as log:
        plan = await log.session("s").plan("g", steps)
        for step, error in [
            ("a", ValueError("x")),
            ("b", TimeoutError()),
            ("c", FileNotFoundError()),
        ]:
            with pytest.raises(type(error)):
                async with plan.run(step):
                    raise error
        assert ids(await plan.next()) == ["b", "c"]


@pytest.mark.parametrize("error", [TimeoutError("late"), asyncio.CancelledError()])
async def test_what_was_cut_off_is_unknown_and_keeps_its_key(
    clients: Clients, error: BaseException
) -> None:
    async with clients.connected() as log:
        plan = await log.session("s").plan("ship", STEPS, plan_id="p")
        async with plan.run("build") as attempt:
            await attempt.complete()
        with pytest.raises(type(error)):
            async with plan.run("deploy", lease_s=0.2) as attempt:
                key = attempt.idempotency_key
                raise error
        assert await plan.next() == []
        with pytest.raises(PlanRefused, match="is run by somebody"):
            await plan.skip("deploy", "no")
        await clients.time_passes(0.3)
        with pytest.raises(NeedsVerification) as unknown:
            await plan.next()
        assert ids(list(unknown.value.calls)) == ["deploy"]
        with pytest.raises(NeedsVerification):
            async with plan.run("deploy"):
                raise AssertionError
        with pytest.raises(NeedsVerification):
            await plan.skip("deploy", "no")
        settled = await plan.settle("deploy", output=aj.NOT_DONE, settled_by="verifier")
        assert (settled.status, settled.settled_by) == ("failed", "verifier")
        async with plan.run("deploy") as attempt:
            assert attempt.idempotency_key == key
            assert (attempt.begun.attempt, attempt.begun.attempt_group) == (2, 1)
            await attempt.complete()
        assert ids(await plan.next()) == ["notify"]


async def test_a_step_that_may_be_run_again_is_run_again_under_the_same_key(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        plan = await log.session("s").plan("ship", STEPS)
        with pytest.raises(NoOutcome):
            async with plan.run("build", lease_s=0.2) as attempt:
                key = attempt.idempotency_key
        assert await plan.next() == []
        await clients.time_passes(0.3)
        assert ids(await plan.next()) == ["build"]
        async with plan.run("build") as attempt:
            assert attempt.idempotency_key == key
            await attempt.complete()


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
            async with plan.run("build"):
                raise AssertionError
        assert (await plan.refresh()).steps["build"].skip_reason == "there already"


async def test_a_revision_keeps_what_is_finished(clients: Clients) -> None:
    check = PlannedStep(step_id="check", title="Check", depends_on=["build"], effect="read")
    async with clients.connected() as log:
        plan = await log.session("s").plan("ship", STEPS)
        async with plan.run("build") as attempt:
            await attempt.complete("image")
        async with plan.run("deploy") as attempt:
            with pytest.raises(PlanRefused) as refused:
                await plan.revise([check], "no deploy")
            assert ids(list(refused.value.steps)) == ["deploy"]
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
        assert ids(list(refused.value.steps)) == ["build", "deploy", "notify"]
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
            async with plan.run("build"):
                raise AssertionError


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
        for step in steps[:3]:
            async with plan.run(step) as attempt:
                await attempt.complete(f"did {step.step_id}")
        with pytest.raises(PlanRefused) as refused:
            await plan.roll_back({"remove": undo})
        assert ids(list(refused.value.steps)) == ["deploy"]
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
        for step in steps:
            async with plan.run(step) as attempt:
                await attempt.complete()
        with pytest.raises(TimeoutError):
            await plan.roll_back({"c": sure, "b": cut, "a": sure}, lease_s=0.2)
        assert await plan.next() == []
        with pytest.raises(PlanRefused, match="somebody runs: undo:b"):
            await plan.roll_back({"c": sure, "b": sure, "a": sure})
        await clients.time_passes(0.3)
        later = await log.session("s").load_plan("p")
        with pytest.raises(NeedsVerification) as unknown:
            await later.roll_back({"c": sure, "b": sure, "a": sure})
        assert ids(list(unknown.value.calls)) == ["undo:b"]
        await later.settle("undo:b", output="done")
        with pytest.raises(ToolError):
            await later.roll_back({"c": sure, "b": sure, "a": broken})
        state = await later.roll_back({"c": sure, "b": sure, "a": sure})
        assert [step for step, _ in calls] == ["c", "b", "a", "a"]
        assert len({key for _, key in calls}) == 4, "a recorded failure has a new key"
        assert {state.steps[s].status for s in ("a", "b", "c")} == {"rolled_back"}


async def test_an_idempotent_compensation_is_run_again_under_its_key(clients: Clients) -> None:
    step = PlannedStep(step_id="a", title="a")
    keys: list[str] = []

    async def undo(_: StepState, attempt: Attempt) -> None:
        keys.append(attempt.idempotency_key)
        if len(keys) == 1:
            raise ConnectionError

    async with clients.connected() as log:
        plan = await log.session("s").plan("g", [step])
        async with plan.run("a") as attempt:
            await attempt.complete()
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
        async with plan.run("build") as attempt:
            await attempt.complete()
        state = await plan.roll_back({"build": None})
        assert (state.steps["build"].status, state.status) == ("rolled_back", "abandoned")
        assert "undo:build" not in state.known


async def test_nothing_is_rolled_back_while_somebody_works_or_nobody_knows(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        plan = await log.session("s").plan("g", [DEPLOY.model_copy(update={"depends_on": []})])
        with pytest.raises(NoOutcome):
            async with plan.run("deploy", lease_s=0.2):
                with pytest.raises(PlanRefused, match="somebody runs: deploy"):
                    await plan.roll_back({"deploy": None})
        await clients.time_passes(0.3)
        with pytest.raises(NeedsVerification):
            await plan.roll_back({"deploy": None})
        assert (await plan.refresh()).status == "open"


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
        with pytest.raises(aj.AppendRejected) as refused:
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


async def test_a_worker_that_lost_the_session_changes_no_plan(clients: Clients) -> None:
    async with clients.connected() as log:
        await log.session("s").plan("ship", STEPS, plan_id="p")
        async with log.session("s", worker="one").resume(lease_s=0.2) as run:
            plan = await run.session.load_plan("p")
            async with plan.run("build") as attempt:
                await attempt.complete()
            await run._keeper.stop()  # as one that is stopped
            await clients.time_passes(0.3)
            async with log.session("s", worker="two").resume() as other:
                with pytest.raises(aj.LeaseLost):
                    async with plan.run("deploy"):
                        raise AssertionError
                async with (await other.session.load_plan("p")).run("deploy") as attempt:
                    await attempt.complete()
