"""Tasks: work that outlives the sessions that it is done in."""

from __future__ import annotations

import pytest

from agentjournal import (
    AppendRejected,
    DecisionMade,
    EnvironmentChanged,
    LeaseHeld,
    LeaseLost,
    MessageAdded,
    ProcessStarted,
    TaskNotFound,
    VersionConflict,
)
from tests.clients import Clients
from tests.planned import STEPS, ids, run


async def test_a_task_goes_on_in_another_session(clients: Clients) -> None:
    async with clients.connected() as one, clients.connected(tenant=one.settings.tenant) as two:
        task = one.task("deploy-17", agent="builder")
        plan = await task.plan("ship", STEPS, plan_id="p")
        await run(plan, "build", {"image": "a"})
        await task.set_note("image", "a")
        await task.record_decision("where?", "eu", "near", alternatives=["us"])
        await one.session("monday", task="deploy-17").append(MessageAdded(role="user", content="x"))

        later = two.task("deploy-17")
        plan = await later.plan("ship", STEPS, plan_id="p")
        assert ids(await plan.next()) == ["deploy"]
        await run(plan, "deploy")
        assert await later.notes() == {"image": "a"}
        state = await task.load()
        assert state.plans["p"].steps["deploy"].status == "completed"
        [decision] = state.decisions
        assert (decision.choice, decision.by, decision.alternatives) == ("eu", "builder", ["us"])
        assert state.version == 7


async def test_a_task_that_was_never_begun_has_no_state(clients: Clients) -> None:
    async with clients.connected() as log:
        task = log.task("t")
        with pytest.raises(TaskNotFound):
            await task.load()
        assert (await task.current()).version == 0
        assert await task.notes() == {}
        with pytest.raises(AppendRejected):
            log.task("")


async def test_a_task_takes_no_messages_and_expects_versions(clients: Clients) -> None:
    async with clients.connected() as log:
        task = log.task("t")
        with pytest.raises(AppendRejected, match="does not belong to a task"):
            await task.append(MessageAdded(role="user", content="x"))
        made = DecisionMade(question="q", choice=1, reason="r", by="me")
        await task.append(made, expected_version=0)
        with pytest.raises(VersionConflict):
            await task.append(made, expected_version=0)
        assert [recorded.type async for recorded in task.events()] == ["decision.made"]


async def test_who_holds_a_task_writes_under_its_fence(clients: Clients) -> None:
    async with clients.connected() as log:
        task = log.task("t")
        async with task.lease(worker="one", lease_s=30) as held:
            plan = await held.plan("ship", STEPS, plan_id="p")
            with pytest.raises(LeaseHeld) as refused:
                async with task.lease(worker="two"):
                    raise AssertionError
            assert refused.value.holder == "one"
            await run(plan, "build")
        async with task.lease(worker="two") as second:
            with pytest.raises(LeaseLost):
                await run(plan, "deploy")
            await run(await second.load_plan("p"), "deploy")


async def test_what_surrounds_an_agent_is_found_again(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        await session.environment_changed(
            cwd="/work", variables={"TOKEN": "secret", "LANG": "C"}, allow=["LANG"], branch="main"
        )
        await session.append(
            ProcessStarted(process_id="p", command="serve", cwd="/work", ports=[1])
        )
        await session.set_note("k", 2**70)
        found = (await log.session("s").load()).environment
        assert (found.cwd, found.branch, found.variables["LANG"]) == ("/work", "main", "C")
        assert "secret" not in found.variables["TOKEN"]
        assert [(p.command, p.cwd, p.ports) for p in found.running] == [("serve", "/work", [1])]
        state = await log.session("s").load()
        assert state.notes_at(session.now()) == {"k": 2**70}
        task = log.task("t")
        await task.append(EnvironmentChanged(cwd="/other"))
        assert (await task.load()).environment.cwd == "/other"
