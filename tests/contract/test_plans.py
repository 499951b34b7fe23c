"""Plans: steps run once, in their order, and go on wherever they were left."""

from __future__ import annotations

import asyncio

import pytest

from agentjournal import (
    NOT_DONE,
    Attempt,
    LeaseLost,
    NeedsVerification,
    PlannedStep,
    PlanNotFound,
    PlanRefused,
)
from tests.clients import Clients
from tests.planned import STEPS, ids, leave, run


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

        await asyncio.gather(*(run(plan, s.step_id, s.step_id) for s in await plan.next()))
        state = await plan.refresh()
        assert [s.result for s in state.steps.values()] == ["s-0", "s-1", "s-2", "s-3"]
        assert await plan.next() == []


async def test_a_plan_asked_for_again_is_the_same_plan(clients: Clients) -> None:
    async with clients.connected() as log:
        first = await log.session("s").plan("ship", STEPS, plan_id="p")
        await run(first, "build")
        again = await log.session("s").plan("ship", STEPS, plan_id="p")
        assert ids(await again.next()) == ["deploy"]
        assert (await log.session("s").load_plan("p")).state == await again.refresh()
        with pytest.raises(PlanRefused):
            await log.session("s").plan("ship", STEPS[:2], plan_id="p")
        with pytest.raises(PlanRefused):
            await log.session("s").plan("other", STEPS, plan_id="p")
        with pytest.raises(PlanNotFound):
            await log.session("s").load_plan("q")


async def test_of_two_who_start_a_step_one_does(clients: Clients) -> None:
    async with clients.connected() as one, clients.connected(tenant=one.settings.tenant) as two:
        await one.session("s").plan("ship", STEPS, plan_id="p")
        plans = [await log.session("s").load_plan("p") for log in (one, two)]
        found = await asyncio.gather(
            *(run(plan, "build", at) for at, plan in enumerate(plans)), return_exceptions=True
        )
        [won] = [at for at, each in enumerate(found) if isinstance(each, Attempt)]
        assert isinstance(found[1 - won], PlanRefused)
        assert (await plans[0].refresh()).steps["build"].result == won


async def test_what_was_cut_off_is_unknown_until_it_is_settled_and_keeps_its_key(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        plan = await log.session("s").plan("ship", STEPS)
        await run(plan, "build")
        with pytest.raises(TimeoutError):
            await leave(plan, "deploy", TimeoutError("late"), lease_s=0.2)
        await clients.time_passes(0.3)
        with pytest.raises(NeedsVerification) as unknown:
            await plan.next()
        assert ids(unknown.value.calls) == ["deploy"]
        for refused in (run(plan, "deploy"), plan.skip("deploy", "no")):
            with pytest.raises(NeedsVerification):
                await refused
        before = plan.state.known["deploy"].idempotency_key
        settled = await plan.settle("deploy", output=NOT_DONE, settled_by="verifier")
        assert (settled.status, settled.settled_by) == ("failed", "verifier")
        attempt = await run(plan, "deploy")
        assert attempt.idempotency_key == before
        assert (attempt.begun.attempt, attempt.begun.attempt_group) == (2, 1)
        assert ids(await plan.next()) == ["notify"]


async def test_a_worker_that_lost_the_session_changes_no_plan(clients: Clients) -> None:
    async with clients.connected() as log:
        await log.session("s").plan("ship", STEPS, plan_id="p")
        async with log.session("s", worker="one").resume(lease_s=0.2) as one:
            plan = await one.session.load_plan("p")
            await run(plan, "build")
            await one.abandon()
            await clients.time_passes(0.3)
            async with log.session("s", worker="two").resume() as two:
                with pytest.raises(LeaseLost):
                    await run(plan, "deploy")
                await run(await two.session.load_plan("p"), "deploy")
                assert ids(await (await two.session.load_plan("p")).next()) == ["notify"]
