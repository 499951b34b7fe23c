"""Plans, rollbacks, approvals, handoffs, workers and streams go on wherever they were killed."""

from __future__ import annotations

import asyncio
from typing import Any

import agentjournal as aj
from agentjournal.testing import Ledger, MemoryLog, crash_everywhere
from tests.scripted_chat import ScriptedChat

STEPS = [
    aj.PlannedStep(step_id="build", title="Build", effect="idempotent"),
    aj.PlannedStep(step_id="deploy", title="Deploy", depends_on=["build"]),
    aj.PlannedStep(step_id="tell", title="Tell", depends_on=["deploy"], effect="read"),
]


async def settle_steps(plan: aj.Plan, unknown: aj.NeedsVerification, ledger: Ledger) -> None:
    """Find out about steps that were cut off, as the outside system knows them by their keys."""
    for step in unknown.calls:
        key = step.idempotency_key or ""
        found = ledger.answer_to(key) if ledger.has(key) else aj.NOT_DONE
        await plan.settle(step, output=found, settled_by="verifier")


async def ship(log: MemoryLog, ledger: Ledger) -> aj.Plan:
    plan = await log.task("release-7").plan("ship", STEPS, plan_id="p")
    while True:
        try:
            ready = await plan.next(wait_s=600)
        except aj.NeedsVerification as unknown:
            await settle_steps(plan, unknown, ledger)
            continue
        if not ready:
            return plan
        for step in ready:
            async with plan.run(step, lease_s=60) as attempt:
                done = await ledger.act(
                    step.step_id, key=attempt.idempotency_key, answer=f"{step.step_id} is done"
                )
                await attempt.complete(done)


async def test_a_plan_of_a_task_runs_each_step_once() -> None:
    ledger = Ledger()

    async def main(log: MemoryLog) -> None:
        plan = await ship(log, ledger)
        if plan.state.status == "open":
            await plan.complete()

    assert await crash_everywhere(main, effects=ledger)
    assert sorted(map(str, ledger)) == ["build()", "deploy()", "tell()"]
    assert await crash_everywhere(main, effects=ledger, kills=2, limit=10)


async def test_a_rollback_undoes_each_step_once() -> None:
    ledger = Ledger()

    async def undo(step: aj.StepState, attempt: aj.Attempt) -> Any:
        return await ledger.act("undo", key=attempt.idempotency_key, step=step.step_id)

    async def main(log: MemoryLog) -> None:
        plan = await log.task("release-7").plan("ship", STEPS, plan_id="p")
        if plan.state.status == "open":
            plan = await ship(log, ledger)
        while True:
            try:
                await plan.roll_back({"build": undo, "deploy": undo}, wait_s=600)
            except aj.NeedsVerification as unknown:
                await settle_steps(plan, unknown, ledger)
            else:
                return

    assert await crash_everywhere(main, effects=ledger)
    assert sum(str(effect).startswith("undo") for effect in ledger) == 2


async def test_what_was_granted_is_paid_once() -> None:
    ledger = Ledger()

    async def found(amount: int, *, call: aj.Call) -> Any:  # noqa: ARG001 - as the tool
        key = call.idempotency_key
        return ledger.answer_to(key) if ledger.has(key) else aj.NOT_DONE

    @aj.tool(approval=True, verify=found)
    async def pay(amount: int, *, call: aj.Call) -> Any:
        return await ledger.act("pay", amount=amount, key=call.idempotency_key, answer="paid")

    model = ScriptedChat([("pay", {"amount": 10})])

    async def main(log: MemoryLog) -> None:
        while True:
            async with log.session("s", agent="support").resume() as run:
                await run.say("Pay 10.", message_id="question")
                while not run.answered:
                    await run.finish_open_calls([pay])
                    if run.waiting:
                        break
                    await run.record(model((await run.window()).messages))
                if not run.waiting:
                    return
                asked = [a for a in run.state.approvals.values() if a.outcome == "open"]
            for approval in asked:
                await log.session("s").grant(approval.approval_id, by="eva")

    assert await crash_everywhere(main, effects=ledger)
    assert [str(effect) for effect in ledger] == ["pay(amount=10)"]


async def test_the_result_of_another_agent_comes_back_once() -> None:
    async def main(log: MemoryLog) -> None:
        while True:
            async with log.session("boss", agent="boss").resume() as run:
                await run.say("How many beans are there?", message_id="question")
                if run.answered and not run.waiting:
                    return
                if not run.waiting:
                    if not run.state.handoffs:
                        await run.hand_off("counter", "Count the beans.")
                    else:
                        await run.record(ScriptedChat(answer="3.")([]))
                children = [h.child_session_id for h in run.state.handoffs.values()]
            for child in children:
                async with log.session(child or "", agent="counter").resume() as counting:
                    if not counting.answered:
                        window = await counting.window()
                        answer = ScriptedChat(answer="There are 3.")(window.messages)
                        await counting.record(answer)

    assert await crash_everywhere(main)


async def test_workers_leave_nothing_undone() -> None:
    model = ScriptedChat()

    async def answer(run: aj.Run) -> None:
        while not run.answered:
            window = await run.window()
            await asyncio.sleep(0)
            await run.record(model(window.messages))

    async def main(log: MemoryLog) -> None:
        for name in ("a", "b"):
            said = aj.MessageAdded(role="user", content="Hello", message_id=name)
            await log.session(name, agent="support").append(said, append_id=name)
        working = log.work(agent="support", concurrency=2)

        async def answer_and_stop(run: aj.Run) -> None:
            await answer(run)
            states = [await log.session(name).load() for name in ("a", "b")]
            if all(state.messages[-1].role == "assistant" for state in states):
                working.stop()

        states = [await log.session(name).load() for name in ("a", "b")]
        if not all(state.messages[-1].role == "assistant" for state in states):
            await working.run(answer_and_stop)

    assert await crash_everywhere(main)


async def test_a_message_that_is_streamed_again_is_recorded_whole_once() -> None:
    async def main(log: MemoryLog) -> None:
        async with log.session("s", agent="support").resume() as run:
            await run.say("Tell me.", message_id="question")
            if run.answered:
                return
            said = [m for m in run.state.messages if m.role == "assistant"]
            if not any(message.status == "complete" for message in said):
                async with run.session.stream_message() as message:
                    for word in ("once ", "upon ", "a time"):
                        await message.write(word)
                await run.refresh()
            await run.end_turn()

    assert await crash_everywhere(main)
