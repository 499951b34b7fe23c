"""Several work on one plan at once: each step is done once, after those that it waits for."""

from __future__ import annotations

import asyncio
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from agentjournal import PlannedStep, PlanRefused
from agentjournal.testing import MemoryLog, memory_log


@st.composite
def plans(draw: st.DrawFn) -> list[PlannedStep]:
    """Steps that wait for some of those before them."""
    steps: list[PlannedStep] = []
    for number in range(draw(st.integers(1, 6))):
        earlier = [step.step_id for step in steps]
        needed = draw(st.lists(st.sampled_from(earlier), unique=True)) if earlier else []
        steps.append(PlannedStep(step_id=f"s-{number}", title="t", depends_on=needed))
    return draw(st.permutations(steps))


async def work(log: MemoryLog, steps: list[PlannedStep], done: list[str], chance: Random) -> None:
    plan = await log.task("t").plan("g", steps, plan_id="p")
    while ready := await plan.next(wait_s=1_000):
        step = chance.choice(ready)
        try:
            async with plan.run(step, lease_s=10_000) as attempt:
                for _ in range(chance.randrange(5)):
                    await asyncio.sleep(0)
                done.append(step.step_id)
                await attempt.complete()
        except PlanRefused:
            continue  # another was faster


@settings(max_examples=20)
@given(plans(), st.integers(0, 1_000))
def test_each_step_is_done_once_after_what_it_waits_for(
    steps: list[PlannedStep], seed: int
) -> None:
    async def three() -> list[str]:
        done: list[str] = []
        log = memory_log()
        workers = (work(log.beside(), steps, done, Random(seed + n)) for n in range(3))
        await asyncio.gather(*workers)
        return done

    done = asyncio.run(three())
    assert sorted(done) == sorted(step.step_id for step in steps)
    for step in steps:
        assert all(done.index(n) < done.index(step.step_id) for n in step.depends_on)
