"""Handing work to another agent, and giving its result back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from pydantic import ValidationError

from agentjournal.asking import TRIES
from agentjournal.delivering import begin_or_find, given_by, record_result
from agentjournal.errors import HandoffNotFound
from agentjournal.events import (
    Event,
    Failure,
    HandoffAccepted,
    HandoffCompleted,
    HandoffFailed,
    SessionStarted,
)
from agentjournal.events.decode import rejection
from agentjournal.execution_state import Handoff
from agentjournal.handoffs import (
    accept_append_id,
    failure_from,
)
from agentjournal.ids import stream_id
from agentjournal.session_approvals import SessionApprovals
from agentjournal.state import SessionState


class SessionHandoffs(SessionApprovals):
    """Handoffs between a session and those beside it."""

    async def _handed(self, handoff_id: str) -> Handoff:
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

        await self.decide(decision, attempts=TRIES)

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
