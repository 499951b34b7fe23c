"""Plans and decisions of a session or a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from agentjournal.errors import PlanNotFound
from agentjournal.events import DecisionMade, Event, PlanCreated, PlannedStep
from agentjournal.events.decode import rejection
from agentjournal.handle import Time
from agentjournal.ids import Version, new_event_id
from agentjournal.lease_state import SessionLease
from agentjournal.outgoing import redacted
from agentjournal.plan_decisions import creation
from agentjournal.plan_writer import PlanWriter
from agentjournal.planning import Moment, PlanState
from agentjournal.plans import Plan
from agentjournal.receipts import Receipt
from agentjournal.session_checkpoints import SessionCheckpoints

_AGENT = "agent"


class SessionPlans(SessionCheckpoints):
    """Plans: what is to be done, by whom nobody knows yet, and what came of it."""

    async def plan(
        self, goal: str, /, steps: Sequence[PlannedStep], *, plan_id: str | None = None
    ) -> Plan:
        """Make a plan and return it; with a `plan_id`, the same asked for again is the same plan.

        So a program begins with this whether or not it ran before. What the plan has come to since,
        revisions among it, stays. Raises PlanRefused when there is another plan of this id,
        AppendRejected when steps have the same id, or wait for what is not there or for each other,
        and what `load` and `append` raise.
        """
        named = new_event_id() if plan_id is None else plan_id
        try:
            wanted = PlanCreated(plan_id=named, goal=goal, steps=list(steps))
        except ValidationError as error:
            raise rejection(error) from None
        written = self._as_written(wanted)

        def begun(held: PlanState, _: Moment) -> Sequence[Event]:
            return [wanted] if creation(self.stream, held, written) else []

        place = PlanPlace(self, self._writer.fence)
        writer = PlanWriter(place, PlanState(named))
        await writer.decide(begun, begins=True)
        return Plan(place, writer.state)

    async def load_plan(self, plan_id: str) -> Plan:
        """Return a plan that was made before. Raises PlanNotFound, and what `load` raises."""
        _, plans = await self.plans_now()
        held = plans.get(plan_id)
        if held is None or held.version is None:
            raise PlanNotFound(self.stream, plan_id)
        return Plan(PlanPlace(self, self._writer.fence), held)

    async def plans_now(self) -> tuple[Version, Mapping[str, PlanState]]:
        """Return the version of the newest state, and its plans. Raises what `load` raises."""
        state = await self.current()
        return state.version, dict(state.plans)

    async def record_decision(
        self,
        question: str,
        choice: Any,
        reason: str,
        *,
        by: str | None = None,
        alternatives: Sequence[Any] | None = None,
        timeout_s: float = 30.0,
    ) -> Receipt:
        """Record what was chosen, why, and between what; `by` is this handle's agent unless given.

        Raises what `append` raises.
        """
        try:
            event = DecisionMade(
                question=question,
                choice=choice,
                reason=reason,
                by=by or self._writer.agent or _AGENT,
                alternatives=None if alternatives is None else list(alternatives),
            )
        except ValidationError as error:
            raise rejection(error) from None
        return await self.append(event, timeout_s=timeout_s)

    def _as_written(self, wanted: PlanCreated) -> PlanCreated:
        """Return a plan as the log has it, to be compared with what was written before."""
        written = redacted(wanted, self._servers.redact, "plan")
        if not isinstance(written, PlanCreated):
            raise TypeError(f"a plan was redacted to a {type(written).__name__}")
        return written


class PlanPlace:
    """The session or task that a plan is of."""

    def __init__(self, handle: SessionPlans, fence: int | None) -> None:
        self.stream, self._handle, self._fence = handle.stream, handle, fence
        self._read_at: datetime | None = None  # the broker's time of the last event that was read
        self._lease: SessionLease | None = None

    @property
    def time(self) -> Time:
        """How time passes."""
        return self._handle.time

    async def append(
        self, events: Event | Sequence[Event], /, *, expected_version: int | None = None
    ) -> Receipt:
        """Append to it."""
        return await self._handle.append(events, expected_version=expected_version)

    async def plans_now(self) -> tuple[Version, Mapping[str, PlanState]]:
        """Return its version, and its plans."""
        state = await self._handle.current()
        self._lease = state.lease
        if state.last is not None:
            self._read_at = datetime.fromisoformat(state.last.recorded_at)
        return state.version, dict(state.plans)

    def now(self) -> Moment:
        """Return the time, never earlier than the broker's when it recorded what was last read."""
        now, read_at, lease = self._handle.now(), self._read_at, self._lease
        if read_at is None:
            return Moment(now)
        now = max(now, read_at)
        if lease is None or lease.fence == self._fence:
            return Moment(now)
        # Which events were written under its fence is not in the state: it may end before this.
        is_live = (now - read_at).total_seconds() < lease.lease_s
        return Moment(now, lease.fence if is_live else None)
