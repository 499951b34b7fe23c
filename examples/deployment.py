"""A deployment pipeline that goes on wherever it was left, and rolls back what it did.

    python -m examples.deployment SESSION RELEASE FOLDER [STAGE THAT FAILS]

Its stages are a plan of a task, which outlives sessions: run it again after a crash, in another
session, and it goes on. When a stage has failed for good, what was done before it is undone, the
last first. FOLDER stands for the cluster.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Protocol

import agentjournal as aj
from examples.cluster import FolderCluster, StageFailed

STAGES = [
    aj.PlannedStep(step_id="build", title="Build the image", effect="idempotent"),
    aj.PlannedStep(
        step_id="migrate",
        title="Add the new columns",
        depends_on=["build"],
        compensation="drop the new columns",
    ),
    aj.PlannedStep(
        step_id="deploy",
        title="Start the new release",
        depends_on=["build", "migrate"],
        compensation="start the old release",
    ),
    aj.PlannedStep(
        step_id="check",
        title="See that it answers",
        depends_on=["deploy"],
        effect="read",
        retry=aj.Retry(max_attempts=2, backoff_s=[2]),
    ),
]
LEASE_S = 30.0  # of the task, and of each stage: after it others go on


class Cluster(Protocol):
    """What is deployed to."""

    async def act(self, name: str, /, *, key: str) -> str:
        """Do something once per key, and return its result. Raises StageFailed."""
        ...

    async def found(self, key: str) -> str | None:
        """Return the result of what was done under a key, None when nothing was."""
        ...


async def ship(log: aj.Log, session_id: str, release: str, cluster: Cluster) -> aj.PlanState:
    """Bring the plan of a release to its end, whatever it has come to; return it.

    Its status is `completed`, or `abandoned` when it was rolled back.
    """
    name = f"ship-{release}"
    session = log.session(session_id, agent="deployer", task=name)
    asked = aj.MessageAdded(role="user", content=f"Ship {release}.", message_id=name)
    await session.append(asked, append_id=name)  # once, whoever repeats it
    async with log.task(name, agent="deployer").lease(lease_s=LEASE_S, wait_s=2 * LEASE_S) as task:
        plan = await task.plan(f"ship {release}", STAGES, plan_id=release)
        while True:
            try:
                await go_on(plan, cluster)
            except aj.NeedsVerification as unknown:  # stages that were cut off
                await find_out(plan, unknown, cluster)
            else:
                return plan.state


async def go_on(plan: aj.Plan, cluster: Cluster) -> None:
    """Run what is left of the plan; roll it back if a stage has failed for good."""
    while stages := await plan.next(wait_s=2 * LEASE_S):
        for stage in stages:
            await run_stage(plan, stage, cluster)
    failed = [stage for stage in plan.state.steps.values() if stage.status == "failed"]
    if plan.state.status == "open" and not failed:
        await plan.complete()
    elif plan.state.status != "completed":
        await roll_back(plan, cluster, f"failed in {', '.join(s.step_id for s in failed)}")


async def run_stage(plan: aj.Plan, stage: aj.StepState, cluster: Cluster) -> None:
    """Run one stage: it is recorded before its effect and after it."""
    try:
        async with plan.run(stage, lease_s=LEASE_S) as attempt:
            result = await cluster.act(stage.step_id, key=attempt.idempotency_key)
            await attempt.complete(result)
    except StageFailed:
        pass  # it is recorded, and tried again as the stage's `retry` says


async def roll_back(plan: aj.Plan, cluster: Cluster, reason: str) -> None:
    """Undo what the stages did. What was undone before a crash is not undone again."""

    async def undo(stage: aj.StepState, attempt: aj.Attempt) -> str:
        assert stage.planned is not None
        return await cluster.act(str(stage.planned.compensation), key=attempt.idempotency_key)

    undoes = {"build": None, "drop the new columns": undo, "start the old release": undo}
    await plan.roll_back(undoes, reason=reason, lease_s=LEASE_S, wait_s=2 * LEASE_S)


async def find_out(plan: aj.Plan, unknown: aj.NeedsVerification, cluster: Cluster) -> None:
    """Settle stages that were cut off by what the cluster knows of their keys."""
    for stage in unknown.calls:
        found = await cluster.found(str(stage.idempotency_key))
        output = aj.NOT_DONE if found is None else found
        await plan.settle(stage.step_id, output=output, settled_by="verifier")


async def main(session_id: str, release: str, folder: Path, fails_in: str | None) -> None:
    """Ship a release, and say what came of its stages."""
    async with aj.connect() as log:
        plan = await ship(log, session_id, release, FolderCluster(folder, fails_in=fails_in))
        for stage in plan.steps.values():
            print(f"{stage.step_id:<12} {stage.status}")


if __name__ == "__main__":
    fails_in = sys.argv[4] if len(sys.argv) > 4 else None
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), fails_in))
