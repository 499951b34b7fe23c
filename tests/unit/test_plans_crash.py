"""Plans, killed at each await of whoever works on them: all is done once, and undone once."""

from __future__ import annotations

from typing import Any

from agentjournal import NOT_DONE, Attempt, NeedsVerification, Plan, StepState
from agentjournal.testing import Ledger, MemoryLog, crash_everywhere
from tests.planned import STEPS

LEASE_S = 5.0


class Deployment:
    """A worker that settles by what the world says, and goes on."""

    def __init__(self, *, rolls_back: bool) -> None:
        self.world, self.rolls_back = Ledger(), rolls_back

    async def main(self, log: MemoryLog) -> None:
        plan = await log.task("deploy-17").plan("ship", STEPS, plan_id="p")
        if plan.state.status == "open":
            await self._deploy(plan)
        if self.rolls_back:
            await self._undo(plan)

    async def _deploy(self, plan: Plan) -> None:
        while True:
            try:
                steps = await plan.next(wait_s=100)
            except NeedsVerification as unknown:
                await self._verify(plan, unknown)
                continue
            if not steps:
                break
            for step in steps:
                async with plan.run(step, lease_s=LEASE_S) as attempt:
                    await attempt.complete(await self._do(step.step_id, attempt))
        await plan.complete()

    async def _undo(self, plan: Plan) -> None:
        async def undo(step: StepState, attempt: Attempt) -> Any:
            return await self._do(f"undo {step.step_id}", attempt)

        while True:
            try:
                undoes = {"build": undo, "deploy": undo}
                await plan.roll_back(undoes, lease_s=LEASE_S, wait_s=100)
            except NeedsVerification as unknown:
                await self._verify(plan, unknown)
            else:
                return

    async def _verify(self, plan: Plan, unknown: NeedsVerification) -> None:
        for step in unknown.calls:
            key = step.idempotency_key
            found = self.world.answer_to(key) if self.world.has(key) else NOT_DONE
            await plan.settle(step, output=found, settled_by="verifier")

    async def _do(self, name: str, attempt: Attempt) -> Any:
        return await self.world.act(name, key=attempt.idempotency_key, answer=f"did {name}")


async def test_every_step_is_done_once() -> None:
    deployment = Deployment(rolls_back=False)
    report = await crash_everywhere(deployment.main, effects=deployment.world)
    assert report.awaits >= 3 * 4, "each is begun, asked for, answered and completed"


async def test_every_step_is_undone_once() -> None:
    deployment = Deployment(rolls_back=True)
    report = await crash_everywhere(deployment.main, effects=deployment.world)
    assert any("in _undo" in place or "in undo" in place for place in report.places)


async def test_also_when_it_is_killed_twice() -> None:
    deployment = Deployment(rolls_back=True)
    await crash_everywhere(deployment.main, effects=deployment.world, kills=2, limit=20)
