"""A tree of sessions, killed at each await of whoever works on it: it recovers as a whole."""

from __future__ import annotations

import os
from typing import Any

import agentjournal
from agentjournal import NOT_DONE, Call, Run, Session
from agentjournal.testing import Ledger, MemoryLog, crash_everywhere
from tests.agents import asks, said, says, types

# A run of the tree takes half a second. All places were tried; EXAMPLES=2000 tries them all again.
PLACES = None if int(os.environ.get("EXAMPLES", "0")) > 1_000 else 10
BELOW = {"boss": "lead", "lead": "counter"}


class Firm:
    """A boss who hands a task to a lead, who hands it to a counter, who does it."""

    def __init__(self) -> None:
        self.world = Ledger()

        async def found(box: int, *, call: Call) -> Any:  # noqa: ARG001 - as the tool
            key = call.idempotency_key
            return self.world.answer_to(key) if self.world.has(key) else NOT_DONE

        @agentjournal.tool(effect="external", verify=found)
        async def count(box: int, *, call: Call) -> Any:
            return await self.world.act("count", box=box, key=call.idempotency_key, answer="3")

        self.tools = [count]

    async def main(self, log: MemoryLog) -> None:
        boss = log.session("boss", agent="boss")
        async with boss.resume(wait_s=100) as run:
            await run.say("How many beans?", message_id="question")
        while not await self.work(boss):
            for info in [each async for each in log.sessions()]:
                await self.work(log.session(info.session_id, agent=info.agent))
        for info in [each async for each in log.sessions()]:
            ended = await types(log.session(info.session_id), "handoff.c", "handoff.f")
            assert len(ended) == (info.agent in BELOW)

    async def work(self, session: Session) -> bool:
        """Do what there is to do in a session; return whether it is done with."""
        async with session.resume(wait_s=100) as run:
            while not (run.answered or run.waiting):
                await (self.count(run) if run.state.agent == "counter" else self.hand_down(run))
            return not run.waiting

    async def count(self, run: Run) -> None:
        await run.finish_open_calls(self.tools)
        await run.window()
        await run.record([asks("c", "count", box=1), says("3 beans")][len(said(run))])

    async def hand_down(self, run: Run) -> None:
        handoff = await run.hand_off(BELOW[run.state.agent or ""], "Count the beans.")
        if handoff.outcome == "completed":
            await run.record(says(f"{handoff.to_agent} says: {handoff.summary}"))


async def test_a_tree_that_is_not_disturbed_brings_the_answer_up() -> None:
    firm = Firm()
    log = agentjournal.testing.memory_log()
    await firm.main(log)
    messages = (await log.session("boss").load()).messages
    assert messages[-1].text == "lead says: counter says: 3 beans"
    assert [str(each) for each in firm.world] == ["count(box=1)"]


async def test_a_tree_that_is_killed_at_each_await_comes_to_the_same() -> None:
    firm = Firm()
    report = await crash_everywhere(firm.main, effects=firm.world, limit=PLACES)
    assert report.awaits > 20


async def test_a_tree_that_is_killed_three_times_comes_to_the_same() -> None:
    firm = Firm()
    limit = 6 if PLACES else 100
    await crash_everywhere(firm.main, effects=firm.world, kills=3, limit=limit, seed=1)
