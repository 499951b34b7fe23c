"""A plan in the hands of whoever works on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from agentjournal.attempts import Attempt, Attempting
from agentjournal.errors import PlanRefused
from agentjournal.events import Failure, PlannedStep
from agentjournal.events.tool import Effect, SettledBy
from agentjournal.plan_decisions import (
    abandonment,
    beginning,
    completion,
    next_steps,
    revision,
    settlement,
    skipping,
)
from agentjournal.plan_rules import Undo, changes_at, standing_of
from agentjournal.plan_writer import LOOK_S, Place, PlanWriter
from agentjournal.planning import PlanState, StepState
from agentjournal.rollback import Wanted, roll_back

STEP_LEASE_S = 60.0  # how long a step may take, as far as others know, when nobody said

AnyStep: TypeAlias = StepState | PlannedStep | str


class Plan:
    """A plan of a session or a task. Everything is decided on its newest state."""

    def __init__(self, place: Place, state: PlanState) -> None:
        self.plan_id = state.plan_id
        self._place, self._writer = place, PlanWriter(place, state)
        self._busy: set[str] = set()  # steps that are run through this handle

    @property
    def state(self) -> PlanState:
        """What was last read of it, with what was written through this handle since."""
        return self._writer.state

    async def refresh(self) -> PlanState:
        """Read what the plan has come to. Raises PlanNotFound, and what `load` raises."""
        return (await self._writer.read())[1]

    async def next(self, *, wait_s: float = 0.0) -> list[StepState]:
        """Return the steps that may run now, in the order of the plan.

        Those are they whose dependencies are completed or skipped, that nobody runs, and that were
        not begun, failed with a retry that is due, or were cut off and may be run again under the
        same key: an external effect may not. No step may run in a plan that has ended. Up to
        `wait_s` are waited for a retry to be due, and for what others run.

        Raises NeedsVerification when no step may run and somebody must first say what came of one
        (`settle`); and what `refresh` raises.
        """
        time = self._place.time
        deadline = time.monotonic() + wait_s
        while True:
            _, plan = await self._writer.read()
            now = self._place.now()
            steps = next_steps(self._place.stream, plan, now, sorted(self._busy))
            left, due = deadline - time.monotonic(), changes_at(plan, now)
            goes_on = self._busy or standing_of(plan, now, "running", "waiting")
            if steps or left <= 0 or plan.status != "open" or not goes_on:
                return steps
            until = left if due is None else min(left, (due - now.at).total_seconds())
            await time.sleep(max(0.01, min(until, LOOK_S)))

    async def changes_at(self) -> datetime | None:
        """Return when a step may run that may not now, if nobody does anything meanwhile.

        A retry is due then, or the lease of a step has passed. Raises what `refresh` raises.
        """
        return changes_at(await self.refresh(), self._place.now())

    def run(
        self,
        step: AnyStep,
        *,
        lease_s: float = STEP_LEASE_S,
        unknown_on: tuple[type[BaseException], ...] = (),
    ) -> Attempting:
        """Record an attempt of a step around its effect: `async with plan.run(step) as attempt`.

        Inside, `attempt.idempotency_key` goes along to the outside system, and `await
        attempt.complete(…)` or `attempt.fail(…)` says what came of it; leaving is told at
        `Attempting`. After `lease_s` others take a step without an outcome for unknown.

        Entering raises PlanRefused when the step may not run now, NeedsVerification when somebody
        must first say what came of it, LeaseLost, and what `append` and `load` raise.
        """
        named = _id_of(step)

        async def begin() -> Attempt:
            if named in self._busy:
                why = f"step {named!r} is run already"
                raise PlanRefused(self._place.stream, self.plan_id, why)
            self._busy.add(named)
            try:
                return await self._writer.begin(
                    lambda plan, now: [beginning(self._place.stream, plan, named, now, lease_s)]
                )
            except BaseException:
                self._busy.discard(named)
                raise

        return Attempting(begin, self._busy.discard, unknown_on)

    async def settle(
        self,
        step: AnyStep,
        *,
        output: Any = None,
        error: BaseException | str | Failure | None = None,
        settled_by: SettledBy = "person",
        evidence: Any = None,
    ) -> StepState:
        """Say what came of a step, from anywhere; return it with the outcome that counts.

        That is the first one: of a step that has an outcome nothing is written. Without an `error`
        it is completed; with `output=agentjournal.NOT_DONE` it may be run again, under the same
        key. Raises PlanRefused when it was not begun, and what `load` and `append` raise.
        """
        named = _id_of(step)
        said: Any = {"output": output, "error": error, "settled_by": settled_by}
        await self._writer.decide(
            lambda plan, _: settlement(self._place.stream, plan, named, **said, evidence=evidence)
        )
        return (await self.refresh()).known[named]

    async def skip(self, step: AnyStep, reason: str) -> None:
        """Say that a step is not needed: what waits for it may run.

        Raises PlanRefused when it is running or completed, NeedsVerification when it was cut off.
        """
        named = _id_of(step)
        await self._writer.decide(
            lambda plan, now: skipping(self._place.stream, plan, named, reason, now)
        )

    async def revise(self, steps: Sequence[PlannedStep], reason: str) -> None:
        """Give the plan other steps from here on.

        What is completed, skipped or rolled back stays in it, named or not. Raises PlanRefused when
        a step that was begun and has no outcome is left out or changed, or one that is finished is
        changed; AppendRejected when steps have the same id, or wait for what is not there.
        """
        await self._writer.decide(lambda plan, _: revision(self._place.stream, plan, steps, reason))

    async def complete(self) -> None:
        """Say that the goal is reached. Raises PlanRefused while steps are left to do."""
        await self._writer.decide(lambda plan, _: completion(self._place.stream, plan))

    async def abandon(self, reason: str) -> None:
        """Give the plan up: no step of it runs any more."""
        await self._writer.decide(lambda plan, _: abandonment(plan, reason))

    async def roll_back(
        self,
        compensations: Mapping[str, Undo | None],
        *,
        reason: str = "rolled back",
        effect: Effect | None = None,
        lease_s: float = STEP_LEASE_S,
        wait_s: float = 0.0,
    ) -> PlanState:
        """Give the plan up and undo what its steps did, the last completed first.

        `compensations` are functions, asynchronous or not, by the id of a step, by its
        `compensation` or by its tool; None where there is nothing to do. Each is called as
        `fn(step, attempt)`, its result kept. What undoes `deploy` is a step of its own,
        `undo:deploy`, with its attempts and an idempotency key: so one that was cut off can be
        gone on with by calling this again, in any process. `effect` is that of the compensations,
        that of the step unless it is given; steps that only read are left as they are. Up to
        `wait_s` are waited for what somebody runs.

        Raises PlanRefused when a step is running or a compensation is missing, before anything is
        undone; NeedsVerification when it is not known what came of a step or of what undoes it
        (`settle`); the error of a compensation that failed, which is tried again by the next call.
        """
        wanted = Wanted(compensations, reason, effect, lease_s, wait_s)
        return await roll_back(self._writer, wanted)

    def __repr__(self) -> str:
        return f"<Plan {self.plan_id!r} of {self._place.stream}>"


def _id_of(step: AnyStep) -> str:
    return step if isinstance(step, str) else step.step_id
