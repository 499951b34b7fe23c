"""Plans for tests, and running their steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentjournal import Attempt, Plan, PlannedStep, StepState

BUILD = PlannedStep(step_id="build", title="Build", effect="idempotent")
DEPLOY = PlannedStep(step_id="deploy", title="Deploy", depends_on=["build"])
NOTIFY = PlannedStep(step_id="notify", title="Tell", depends_on=["deploy"], effect="read")
STEPS = [BUILD, DEPLOY, NOTIFY]


def ids(steps: Sequence[StepState]) -> list[str]:
    """Return the ids of steps."""
    return [step.step_id for step in steps]


async def run(plan: Plan, step: str, result: Any = None, *, lease_s: float = 60.0) -> Attempt:
    """Run a step that ends well; return its attempt."""
    async with plan.run(step, lease_s=lease_s) as attempt:
        await attempt.complete(result)
    return attempt


async def leave(
    plan: Plan, step: str, error: BaseException | None, *, lease_s: float = 60.0
) -> None:
    """Begin a step and leave it by an error, or without an outcome."""
    async with plan.run(step, lease_s=lease_s):
        if error is not None:
            raise error
