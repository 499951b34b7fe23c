"""A firm of agents that is killed: run as a program, its workers die at an append of their choice.

    python -m tests.firm TENANT FILE DIES_AT

A boss hands a task to a lead, who hands it to a counter, who acts on the world: FILE, a line for
each effect with its idempotency key. DIES_AT is the number of the append right after which the
process is killed, 0 for none: then it ends once the boss has the answer.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from itertools import count
from pathlib import Path
from typing import Any

import agentjournal
from agentjournal import NOT_DONE, Call, Run
from agentjournal.handle import Handle
from tests.agents import asks, said, says

BELOW = {"boss": "lead", "lead": "counter"}
ANSWER = "lead: counter: 3 beans"


class Firm:
    """Agents, and the world that they act on."""

    def __init__(self, world: Path) -> None:
        self.world = world

        async def found(box: int, *, call: Call) -> Any:  # noqa: ARG001 - as the tool
            return "3" if call.idempotency_key in self.effects() else NOT_DONE

        @agentjournal.tool(effect="external", verify=found, timeout_s=0.2)
        async def weigh(box: int, *, call: Call) -> str:  # noqa: ARG001 - the model gives it
            with self.world.open("a") as file:
                file.write(f"{call.idempotency_key}\n")
            return "3"

        self._tools = [weigh]

    def effects(self) -> list[str]:
        """Return the keys of what was done, in its order."""
        return self.world.read_text().splitlines() if self.world.exists() else []

    async def work(self, run: Run) -> None:
        """Do what there is to do in a session."""
        while not (run.answered or run.waiting):
            if run.state.agent == "counter":
                await run.finish_open_calls(self._tools)
                await run.record([asks("c", "weigh", box=1), says("3 beans")][len(said(run))])
                continue
            below = BELOW[run.state.agent or ""]
            handoff = await run.hand_off(below, "Count the beans.")
            if handoff.outcome == "completed":
                await run.record(says(f"{below}: {handoff.summary}"))


def die_at(append: int) -> None:
    """Let this process be killed when so many appends were acknowledged."""
    numbers, note = count(1), vars(Handle)["_note"]

    def noting(self: Handle, receipt: agentjournal.Receipt) -> agentjournal.Receipt:
        if next(numbers) == append:
            os.kill(os.getpid(), signal.SIGKILL)
        noted: agentjournal.Receipt = note(self, receipt)
        return noted

    setattr(Handle, "_note", noting)  # noqa: B010 - it is not for others


async def _main(tenant: str, world: str, dies_at: str) -> None:
    die_at(int(dies_at))
    firm = Firm(Path(world))
    async with agentjournal.connect(tenant=tenant) as log, asyncio.TaskGroup() as group:
        working = [log.work(agent=a, lease_s=0.5, poll_s=0.05) for a in (*BELOW, "counter")]
        for each in working:
            group.create_task(each.run(firm.work))
        async for _ in log.session("boss").events(follow=True):
            state = await log.session("boss").current()
            if state.messages and state.messages[-1].text == ANSWER and state.turn_id is None:
                break
        for each in working:
            each.stop()


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
