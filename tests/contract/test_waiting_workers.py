"""Workers go on by themselves with what somebody answered, or another agent has done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import agentjournal
from agentjournal import Ask, Log, MessageAdded, Run, SessionState
from tests.agents import asks, said, says
from tests.clients import Clients

HELLO = MessageAdded(role="user", content="Please.")


@asynccontextmanager
async def workers(log: Log, **agents: Callable[[Run], Awaitable[object]]) -> AsyncGenerator[None]:
    """Let a worker of each agent run in the block."""
    working = [log.work(agent=agent, lease_s=5, poll_s=0.02) for agent in agents]
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for each, function in zip(working, agents.values(), strict=True):
            group.create_task(each.run(function))
        try:
            yield
        finally:
            for each in working:
                each.stop()


async def until(log: Log, session: str, holds: Callable[[SessionState], bool]) -> SessionState:
    """Return what a session has come to, once that is so."""
    async for _ in log.session(session).events(follow=True):
        if holds(state := await log.session(session).current()):
            return state
    raise AssertionError


def is_answered(state: SessionState) -> bool:
    return state.turn is not None and state.turn.reason == "completed"


async def test_a_worker_goes_on_when_somebody_answers_or_nobody_does_in_time(
    clients: Clients,
) -> None:
    paid: list[int] = []

    @agentjournal.tool(
        approval=lambda given: Ask("Pay?", expires_in_s=0.4 if given["amount"] > 9 else None)
    )
    async def pay(amount: int) -> str:
        paid.append(amount)
        return f"paid {amount}"

    async def work(run: Run) -> None:
        script = [asks("c", "pay", amount=9 if run.session.id == "s" else 10), says("So be it.")]
        while not run.answered:
            await run.finish_open_calls([pay])
            if run.waiting:
                break
            await run.record(script[len(said(run))])

    async with clients.connected() as log, workers(log, support=work):
        for session in ("s", "t"):
            await log.session(session, agent="support").append(HELLO)
        for session in ("s", "t"):
            await until(log, session, lambda state: bool(state.approvals))
        [approval_id] = (await log.session("s").current()).approvals
        await log.session("s").grant(approval_id, by="eva")
        await clients.time_passes(0.5)
        outputs = [(await until(log, s, is_answered)).calls["c"].output for s in ("s", "t")]
        assert (outputs, paid) == (["paid 9", "denied: nobody answered in time"], [9])


async def test_a_tree_of_agents_works_by_itself(clients: Clients) -> None:
    async def hand_down(run: Run) -> None:
        below = {"boss": "lead", "lead": "counter"}[run.state.agent or ""]
        while not (run.answered or run.waiting):
            handoff = await run.hand_off(below, "Count the beans.")
            if handoff.outcome == "completed":
                await run.record(says(f"{below}: {handoff.summary}"))

    async def count(run: Run) -> None:
        while not run.answered:
            await run.record(says("3"))

    async with (
        clients.connected() as log,
        workers(log, boss=hand_down, lead=hand_down, counter=count),
    ):
        await log.session("boss", agent="boss").append(HELLO)
        state = await until(log, "boss", is_answered)
        assert state.messages[-1].text == "lead: counter: 3"


async def test_a_conversation_that_is_transferred_is_worked_on_by_the_other_agent(
    clients: Clients,
) -> None:
    async def support(run: Run) -> None:
        await run.hand_off("billing", "A refund.", mode="transfer")

    async def billing(run: Run) -> None:
        while not run.answered:
            await run.record(says("You get it."))

    async with clients.connected() as log, workers(log, support=support, billing=billing):
        await log.session("s", agent="support").append(HELLO)
        state = await until(log, "s", lambda state: len(state.messages) > 1)
        assert (state.messages[-1].text, state.agent) == ("You get it.", "billing")
