"""What a run waits for: answers that come at any moment are gone on with."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

import agentjournal
from agentjournal import ApprovalGranted, ApprovalRequested, MessageAdded, Run, ToolCallPart
from agentjournal.testing import MemoryLog, memory_log
from tests.agents import asks, said, says, types, work


async def only_approval(log: MemoryLog) -> str:
    """Return the id of the approval that the session was asked for."""
    [approval_id] = (await log.session("s").load()).approvals
    return approval_id


async def test_an_answer_that_comes_while_another_call_runs_is_not_waited_for() -> None:
    log, paid = memory_log(), list[int]()

    @agentjournal.tool(approval=True)
    async def pay(amount: int) -> None:
        paid.append(amount)

    @agentjournal.tool(effect="read")
    async def look() -> None:
        while not (await log.session("s").load()).approvals:
            pass
        await log.beside().session("s").grant(await only_approval(log), by="eva")

    async with log.session("s").resume() as run:
        await run.say("Pay 10.")
        parts = [
            ToolCallPart(call_id="p", name="pay", arguments_text='{"amount":10}'),
            ToolCallPart(call_id="l", name="look", arguments_text="{}"),
        ]
        await run.record(MessageAdded(role="assistant", parts=[*parts]))
        await run.finish_open_calls([pay, look])
        assert (paid, run.waiting, run.state.turn_id is None) == ([10], False, False)


async def test_of_two_approvals_each_is_gone_on_with_when_it_is_answered() -> None:
    log, paid = memory_log(), list[int]()

    @agentjournal.tool(approval=lambda given: None if given["amount"] < 10 else "Pay?")
    async def pay(amount: int) -> None:
        paid.append(amount)

    parts = [
        ToolCallPart(call_id=f"c-{n}", name="pay", arguments_text=f'{{"amount":{n}}}')
        for n in (1, 10, 20)
    ]
    script = [MessageAdded(role="assistant", parts=[*parts]), says("Done.")]
    await log.session("s").append(MessageAdded(role="user", content="Pay."))
    for amount in (None, 20, 10):
        if amount is not None:
            state = await log.session("s").load()
            [approval] = [a for a in state.approvals.values() if a.call_id == f"c-{amount}"]
            await log.session("s").grant(approval.approval_id, by="eva")
        run = await work(log.session("s"), script, [pay])
        assert run.waiting == (amount != 10)
    assert paid == [1, 20, 10]
    assert await types(log.session("s"), "approval.r") == ["approval.requested"] * 2


async def test_a_grant_is_for_its_call_alone() -> None:
    log, paid = memory_log(), list[int]()

    @agentjournal.tool(approval=True)
    async def pay(amount: int) -> None:
        paid.append(amount)

    script = [asks("a", "pay", amount=10), asks("b", "pay", amount=9999)]
    await log.session("s").append(MessageAdded(role="user", content="Pay."))
    await work(log.session("s"), script, [pay])
    await log.session("s").grant(await only_approval(log), by="eva")
    run = await work(log.session("s"), script, [pay])
    assert (paid, run.waiting, len(run.state.approvals)) == ([10], True, 2)
    assert not run.allows("pay", {"amount": 9999})


async def test_a_run_does_not_wait_when_an_answer_came_meanwhile() -> None:
    log = memory_log()
    async with log.session("s").resume() as run:
        await run.say("Hello.")
        asked = ApprovalRequested(approval_id="a", question="May I?")
        await log.beside().session("s").append([asked, ApprovalGranted(approval_id="a", by="eva")])
        assert not await run.wait()
        assert (run.waiting, run.approval("a").outcome) == (False, "granted")
        assert await run.wait()
        assert run.waiting


async def test_who_decides_on_a_run_decides_on_what_others_wrote() -> None:
    log = memory_log()
    seen: list[int] = []
    async with log.session("s").resume() as run:
        await run.say("Hello.")
        await log.beside().session("s").append(MessageAdded(role="user", content="And?"))

        def decision(state: agentjournal.SessionState) -> agentjournal.Event:
            seen.append(len(state.messages))
            return says("Both.")

        await run.decide(decision)
        assert seen == [1, 2]
        assert await run.decide(lambda _: None) is None


@pytest.mark.parametrize("dies", [False, True])
async def test_a_model_hands_over_with_a_tool_whatever_becomes_of_its_worker(dies: bool) -> None:
    log = memory_log()

    async def work_as_boss() -> Run:
        async with log.session("s", agent="boss").resume(wait_s=100) as run:

            @agentjournal.tool(effect="idempotent")
            async def ask_counter(task: str) -> str:
                handoff = await run.hand_off("counter", task)
                if dies and handoff.outcome == "open":
                    raise asyncio.CancelledError
                return handoff.summary or "It is handed over."

            script = [asks("c", "ask_counter", task="Count."), says("There are 3.")]
            while not (run.answered or run.waiting):
                await run.finish_open_calls([ask_counter])
                if not run.waiting:
                    await run.record(script[len(said(run))])
        return run

    await log.session("s", agent="boss").append(MessageAdded(role="user", content="How many?"))
    with contextlib.nullcontext() if not dies else pytest.raises(asyncio.CancelledError):
        await work_as_boss()
    [handoff] = (await log.session("s").load()).handoffs.values()
    assert handoff.child_session_id is not None
    await work(log.session(handoff.child_session_id, agent="counter"), [says("3")])
    run = await work_as_boss()
    assert (run.answered, run.waiting, len(run.state.handoffs)) == (True, False, 1)
    assert run.state.calls["c"].output == ("3" if dies else "It is handed over.")
