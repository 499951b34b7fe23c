"""A deployment that is killed: run as a program, it works on a task until a step it dies in.

    python -m tests.deployer TENANT FILE DIES_IN [undo]

FILE stands for the outside world: a line for each effect, with its idempotency key.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import agentjournal
from agentjournal import NOT_DONE, Attempt, NeedsVerification, Plan, StepState, Task
from tests.planned import STEPS

LEASE_S = 0.4


class World:
    """What can be seen from outside: effects by their keys."""

    def __init__(self, path: Path, dies_in: str = "") -> None:
        self._path, self._dies_in = path, dies_in

    def effects(self) -> dict[str, str]:
        """Return the names of effects by their keys: what a key was used for counts once."""
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        return dict(line.split(" ") for line in lines)

    def do(self, name: str, key: str) -> None:
        """Have an effect; die right after it where that is asked for."""
        with self._path.open("a") as file:
            file.write(f"{key} {name}\n")
        if name == self._dies_in:
            os.kill(os.getpid(), signal.SIGKILL)


async def deploy(task: Task, world: World) -> Plan:
    """Bring the plan of a task to its end, whatever it has come to."""
    plan = await task.plan("ship", STEPS, plan_id="p")
    while True:
        try:
            steps = await plan.next(wait_s=5)
        except NeedsVerification as unknown:
            await verify(plan, unknown.calls, world)
            continue
        if not steps:
            break
        for step in steps:
            async with plan.run(step, lease_s=LEASE_S) as attempt:
                world.do(step.step_id, attempt.idempotency_key)
                await attempt.complete(f"did {step.step_id}")
    await plan.complete()
    return plan


async def undo(plan: Plan, world: World) -> None:
    """Roll a plan back, whatever was undone before."""

    async def undone(step: StepState, attempt: Attempt) -> None:
        world.do(f"undo:{step.step_id}", attempt.idempotency_key)

    while True:
        try:
            undoes = {"build": undone, "deploy": undone}
            await plan.roll_back(undoes, lease_s=LEASE_S, wait_s=5)
        except NeedsVerification as unknown:
            await verify(plan, unknown.calls, world)
        else:
            return


async def verify(plan: Plan, steps: tuple[StepState, ...], world: World) -> None:
    """Say of each step what the world says."""
    for step in steps:
        was_done = step.idempotency_key in world.effects()
        found = f"did {step.step_id}" if was_done else NOT_DONE
        await plan.settle(step, output=found, settled_by="verifier")


async def _main(tenant: str, path: str, dies_in: str, *more: str) -> None:
    world = World(Path(path), dies_in)
    async with agentjournal.connect(tenant=tenant) as log:
        plan = await deploy(log.task("deploy-17"), world)
        if more:
            await undo(plan, world)


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
