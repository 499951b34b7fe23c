"""What a run hands to other agents, and what it may do if it works for one."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from agentjournal.calls import Call
from agentjournal.constraints import Violation, broken, refused
from agentjournal.delivering import begin_or_find, given_by, record_result
from agentjournal.errors import (
    AgentJournalError,
    AppendIdReused,
    NotCaughtUp,
    StreamDeleted,
    StreamParked,
    Unavailable,
)
from agentjournal.events import (
    Constraints,
    Event,
    HandoffAccepted,
    HandoffRequested,
    ToolFailed,
    TurnEnded,
    TurnStarted,
)
from agentjournal.execution_state import Handoff, child_of
from agentjournal.handoffs import (
    accept_append_id,
    result_append_id,
    result_of,
)
from agentjournal.leasing import Keeper
from agentjournal.outcomes import shown_failure
from agentjournal.run_asking import RunAsking
from agentjournal.session_handoffs import SessionHandoffs
from agentjournal.state import SessionState
from agentjournal.turns import inbox

if TYPE_CHECKING:
    from agentjournal.session import Session

_DELIVER_S = 5.0  # how long it may take to give a result back while a run is left


class RunHandoffs(RunAsking):
    """Handoffs of a run: to other agents, and the one that its own session was begun for."""

    def __init__(self, session: Session, state: SessionState, keeper: Keeper) -> None:
        super().__init__(session, state, keeper)
        self._given: tuple[SessionHandoffs, HandoffRequested] | None = None
        self._has_accepted = self._delivered = False
        self._counted: set[str] = set()  # ids of calls that this run let begin

    async def _handed(self, handoff_id: str) -> Handoff:
        await self._deliver_one(self.state.handoffs[handoff_id])
        return self.state.handoffs[handoff_id]

    @property
    def handoff(self) -> HandoffRequested | None:
        """What this session was begun for by another agent, with its constraints; or None."""
        return None if self._given is None else self._given[1]

    async def deliver(self) -> None:
        """Record what time, and other sessions, have decided; `resume` begins with this.

        Approvals expire, a conversation that was transferred to this agent is taken over, children
        that were not begun are begun, and results that were not brought back are. What cannot be
        reached now is left for the next time. Raises what `append` raises.
        """
        await self.lapse()
        await self._take_over()
        open_ones = [each for each in self.state.handoffs.values() if each.ended_version is None]
        for handoff in open_ones:
            with contextlib.suppress(NotCaughtUp, StreamParked, Unavailable):
                await self._deliver_one(handoff)
        await self._as_child()

    async def _deliver_one(self, handoff: Handoff) -> None:
        found = await begin_or_find(self.session, self.state, handoff)
        if found is not None:
            try:
                await self.append(found, append_id=result_append_id(found.handoff_id))
            except AppendIdReused:
                await self.refresh()  # it was brought back, and says something else

    async def _take_over(self) -> None:
        """Begin with what was transferred to this agent."""

        def decision(state: SessionState) -> list[Event]:
            ours = [
                each
                for each in state.handoffs.values()
                if each.mode == "transfer" and each.outcome == "open"
            ]
            if not ours or ours[-1].to_agent != self.session.agent:
                return []
            accepted: list[Event] = [HandoffAccepted(handoff_id=each.handoff_id) for each in ours]
            if state.turn_id is None:
                seen: list[int] = [message.version for message in inbox(state)]
                accepted.append(TurnStarted(trigger="handoff", input_versions=seen))
            return accepted

        await self.decide(decision)

    async def _as_child(self) -> None:
        """Say that this agent has begun; give a result back that was not."""
        if child_of(self.state.parent) is None:
            return
        if self._given is None:
            self._given = await given_by(self.session, self.state)
        if self._given is None or self._delivered:
            return
        parent, request = self._given
        try:
            if self.state.turn is None and not self._has_accepted:
                event = HandoffAccepted(handoff_id=request.handoff_id)
                await parent.append(event, append_id=accept_append_id(request.handoff_id))
                self._has_accepted = True
            result = result_of(self.state, request.handoff_id, request.constraints)
            # A turn that is to come may say something else, but the first result counts.
            if result is not None:
                await record_result(parent, result)
                self._delivered = True
        except StreamDeleted:
            self._delivered = True  # nobody waits for it any more

    async def release(self) -> None:
        """Give the result of a handoff back if there is one, and the lease. Raises nothing.

        What cannot be given back now is later; a lease passes by itself.
        """
        if self._given is not None and self._keeper.lost is None:
            with contextlib.suppress(AgentJournalError, TimeoutError):
                async with asyncio.timeout(_DELIVER_S):
                    await self._as_child()
        await super().release()

    @property
    def constraints(self) -> Constraints:
        """What this session's run may do, as the agent said that handed it over."""
        return Constraints() if self._given is None else self._given[1].constraints

    async def check_constraints(self) -> None:
        """End the turn, and fail the handoff, when nothing more may be done.

        Raises ConstraintViolated then, and what `append` raises.
        """
        found = broken(self.constraints, self.state.usage, self.moment)
        if found is None:
            return
        if self.state.turn_id is not None:
            turn_id, error = self.state.turn_id, found.failure()
            await self.append(TurnEnded(turn_id=turn_id, reason="limit", error=error))
        await self._as_child()
        raise found.error(self.session.stream)

    def refusal(self, call_id: str, tool: str) -> Violation | None:
        """Return the constraint that a call would violate; one that may begin is counted."""
        if self._given is None:
            return None  # nobody has set any, and there may be many calls to go through
        begun = {each.call_id for each in self.state.calls.values() if each.started_version}
        found = refused(self.constraints, begun | self._counted, call_id, tool)
        if found is None:
            self._counted.add(call_id)
        return found

    async def check_call(self, call: Call) -> None:
        """Record that a call is refused if it would violate a constraint.

        Raises ConstraintViolated then, and what `append` raises.
        """
        found = self.refusal(call.call_id, call.tool)
        if found is None:
            return
        failure = found.tool_failure()
        event = ToolFailed(
            call_id=call.call_id,
            attempt=call.attempt,
            error=failure,
            output=shown_failure(failure),
        )
        await self.append(event)
        raise found.error(self.session.stream)
