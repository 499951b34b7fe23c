"""Appending what a plan's newest state allows, and only if the plan is still in it then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol, TypeAlias

from agentjournal.attempts import Attempt
from agentjournal.errors import PlanNotFound, VersionConflict
from agentjournal.events import Event, StepStarted
from agentjournal.events.tool import Effect
from agentjournal.handle import Time
from agentjournal.ids import StreamId, Version
from agentjournal.planning import PLAN_FOLDS, Moment, PlanState, StepState
from agentjournal.receipts import Receipt
from agentjournal.run_state import OwnEvent
from agentjournal.stored import written_time

LOOK_S = 0.25  # between two looks at what others run
_TRIES = 20  # against others who write to the same stream

Deciding: TypeAlias = Callable[[PlanState, Moment], Sequence[Event]]


class Place(Protocol):
    """What a plan stands in: a session or a task."""

    stream: StreamId

    async def append(
        self, events: Event | Sequence[Event], /, *, expected_version: int | None = None
    ) -> Receipt: ...
    async def plans_now(self) -> tuple[Version, Mapping[str, PlanState]]: ...
    def now(self) -> Moment: ...
    @property
    def time(self) -> Time: ...


class Decided(NamedTuple):
    """What was appended, and what it was decided on."""

    plan: PlanState
    events: Sequence[Event]


class PlanWriter:
    """Reads a plan and writes what was decided on it.

    `state` is what was last read, with what was written since.
    """

    def __init__(self, place: Place, state: PlanState) -> None:
        self.place, self.plan_id, self.state = place, state.plan_id, state
        self.stream = place.stream

    def now(self) -> Moment:
        """Return the moment of a decision on what was last read."""
        return self.place.now()

    async def append(
        self, events: Sequence[Event], /, *, expected_version: int | None = None
    ) -> Receipt:
        """Append events of the plan. Raises what `append` raises."""
        receipt = await self.place.append(events, expected_version=expected_version)
        plans = {self.plan_id: self.state}
        first, at = receipt.last_version - len(events) + 1, written_time(self.now().at)
        for version, event in enumerate(events, first):
            PLAN_FOLDS[type(event)](plans, event, OwnEvent(Version(version), event, at))
        self.state = plans[self.plan_id]
        return receipt

    async def read(self, *, begins: bool = False) -> tuple[Version, PlanState]:
        """Return the newest state, and the version of its stream.

        Raises PlanNotFound when there is no such plan, unless it `begins` now.
        """
        version, plans = await self.place.plans_now()
        plan = plans.get(self.plan_id)
        if plan is None:
            if not begins:
                raise PlanNotFound(self.place.stream, self.plan_id)
            plan = PlanState(self.plan_id)
        self.state = plan
        return version, plan

    async def decide(self, fn: Deciding, *, begins: bool = False) -> Decided:
        """Append what `fn` returns for the newest state; on a lost race it is called again.

        Raises what `fn` and `read` raise, VersionConflict when others are always faster.
        """
        left = _TRIES
        while True:
            left -= 1
            version, plan = await self.read(begins=begins)
            events = fn(plan, self.now())
            try:
                if events:
                    await self.append(events, expected_version=version)
            except VersionConflict:
                if not left:
                    raise
            else:
                return Decided(plan, events)

    async def begin(self, fn: Deciding, effect: Effect | None = None) -> Attempt:
        """Append what `fn` returns, and return the attempt that it begins."""
        plan, events = await self.decide(fn)
        begun = next(each for each in events if isinstance(each, StepStarted))
        step = plan.known.get(begun.step_id) or StepState(begun.step_id, Version(0))
        step = replace(step, attempt=begun.attempt, attempt_group=begun.attempt_group)
        return Attempt(step, begun, effect or step.effect, self)
