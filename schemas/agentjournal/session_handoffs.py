"""Handing work to another agent, and giving its result back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Self

from pydantic import ValidationError

from agentjournal.delivering import begin_or_find, given_by, record_result
from agentjournal.errors import HandoffNotFound
from agentjournal.events import (
    Event,
    Failure,
    HandoffAccepted,
    HandoffCompleted,
    HandoffFailed,
    Money,
    SessionStarted,
)
from agentjournal.events.decode import rejection
from agentjournal.execution_state import Handoff
from agentjournal.handoffs import (
    Mode,
    Wanted,
    accept_append_id,
    failure_from,
    handing,
    handing_off,
)
from agentjournal.ids import stream_id
from agentjournal.session_approvals import SessionApprovals, moment
from agentjournal.state import SessionState

_TRIES = 20


class SessionHandoffs(SessionApprovals):
    """Handoffs: to other agents, and of the session itself if it comes from one."""

    async def hand_off(  # noqa: PLR0913 - a keyword for each thing one may say of it
        self,
        to_agent: str,
        task: str,
        /,
        *,
        mode: Mode = "delegate",
        context: Sequence[Any] = (),
        tools: Sequence[str] | None = None,
        max_tool_calls: int | None = None,
        deadline_in_s: float | None = None,
        deadline_at: datetime | str | None = None,
        max_tokens: int | None = None,
        max_cost: Money | None = None,
        handoff_id: str | None = None,
        child_session_id: str | None = None,
    ) -> Handoff:
        """Hand a task to another agent, and end the turn that is open; return the handoff.

        `delegate`: in a session of its own, which begins with the task and the `context` and sees
        nothing else; the turn waits for its result. `transfer`: in this session, which is the other
        agent's then. The rest limits a delegate: what its run does not allow is recorded.
        Handing the same over again is the same handoff, with its result if there is one: give a
        `handoff_id` to do it anew. Raises AppendRejected, and what `decide` raises.
        """
        wanted = Wanted(
            to_agent=to_agent,
            task=task,
            mode=mode,
            context=context,
            tools=tools,
            max_tool_calls=max_tool_calls,
            deadline_in_s=deadline_in_s,
            deadline_at=deadline_at,
            max_tokens=max_tokens,
            max_cost=max_cost,
            handoff_id=handoff_id,
            child_session_id=child_session_id,
        )
        ids: list[str] = []

        def decision(state: SessionState) -> list[Event]:
            event = handing_off(state, wanted, moment(state, self.now()))
            ids.append(event.handoff_id)
            return handing(state, event)

        await self.decide(decision, attempts=_TRIES)
        return await self._handed(ids[-1])

    async def _handed(self, handoff_id: str) -> Handoff:
        """Begin the child session of a handoff unless that was done; return the handoff."""
        state = (await self.current()).copied()
        found = await begin_or_find(self, state, state.handoffs[handoff_id])
        if found is None:
            return state.handoffs[handoff_id]
        await record_result(self, found)
        return (await self.current()).handoffs[handoff_id]

    async def accept_handoff(self, handoff_id: str | None = None) -> None:
        """Say that the agent that something was handed to has begun, here or in a child session.

        A run does this by itself. Raises HandoffNotFound, and what `append` raises.
        """
        state = await self.current()
        given = await given_by(self, state)
        if given is not None and handoff_id in {None, given[1].handoff_id}:
            parent, request = given
            event = HandoffAccepted(handoff_id=request.handoff_id)
            await parent.append(event, append_id=accept_append_id(request.handoff_id))
            return

        def decision(state: SessionState) -> Event | None:
            held = None if handoff_id is None else state.handoffs.get(handoff_id)
            if handoff_id is None or held is None:
                raise HandoffNotFound(self.stream, handoff_id)
            is_new = held.outcome == "open"
            return HandoffAccepted(handoff_id=handoff_id) if is_new else None

        await self.decide(decision, attempts=_TRIES)

    async def complete_handoff(
        self, summary: str, /, *, data: Any = None, usage: Any = None
    ) -> Handoff:
        """Give the result of the handoff that this session works on to the one that waits for it.

        Without this it is what the agent says at the end of its turn. Returns the handoff with the
        result that counts: the first. Raises HandoffNotFound, and what `append` raises.
        """
        return await self._end(HandoffCompleted, summary=summary, data=data, usage=usage)

    async def fail_handoff(self, error: BaseException | str | Failure, /) -> Handoff:
        """Say that what was handed to this session cannot be done; see `complete_handoff`."""
        return await self._end(HandoffFailed, error=failure_from(error))

    async def _end(self, model: type[HandoffCompleted | HandoffFailed], **fields: Any) -> Handoff:
        given = await given_by(self, await self.current())
        if given is None:
            raise HandoffNotFound(self.stream, None)
        parent, request = given
        try:
            event = model(handoff_id=request.handoff_id, **fields)
        except ValidationError as error:
            raise rejection(error) from None
        await record_result(parent, event)
        return (await parent.current()).handoffs[request.handoff_id]

    def beside(self, session_id: str, start: SessionStarted) -> Self:
        """Return a handle of another session of the tenant, which writes under no lease."""
        stream = stream_id("session", self.tenant, session_id)
        return type(self)(stream, self._servers, replace(self._writer, fence=None), start)

    @property
    def agent(self) -> str | None:
        """The agent that this handle writes as."""
        return self._writer.agent

    async def event_at(self, version: int, *, timeout_s: float = 5.0) -> Event | None:
        """Return the event at a version, None when there is none."""
        for is_late in (False, True):
            if is_late:
                await self._catch_up(timeout_s, through=version)
            found = self._servers.views.read_stream(self.stream, after=version - 1, most=1)
            events = [recorded.event async for recorded in found if recorded.version == version]
            if events:
                return events[0]
        return None
