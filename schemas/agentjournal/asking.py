"""Asking people and other agents: the same of a session, and of a run that holds it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from agentjournal.approvals import Ask, asking, digest_of_call, input_of, moment, request_of
from agentjournal.errors import VersionConflict
from agentjournal.events import Event, Money
from agentjournal.execution_state import Approval, Handoff, Question
from agentjournal.handoffs import Mode, Wanted, handing, handing_off
from agentjournal.receipts import Receipt
from agentjournal.state import SessionState

TRIES = 20  # against others who write to the same session

Decision: TypeAlias = Callable[[SessionState], Event | Sequence[Event] | None]


async def decided(
    fn: Decision,
    read: Callable[[], Awaitable[SessionState]],
    append: Callable[[list[Event], int], Awaitable[Receipt]],
    attempts: int,
) -> Receipt | None:
    """Append what `fn` returns for the newest state, only if the session is still at it.

    Raises VersionConflict when the last attempt lost as well.
    """
    if attempts < 1:
        raise ValueError(f"attempts={attempts} is below 1")
    while True:
        attempts -= 1
        state = await read()
        found = fn(state)
        events = [found] if isinstance(found, Event) else list(found or ())
        if not events:
            return None
        try:
            return await append(events, state.version)
        except VersionConflict:
            if not attempts:
                raise


class Asking:
    """Asks for an approval, for an answer, or another agent to take something over."""

    async def decide(self, fn: Decision, /, *, attempts: int = TRIES) -> Receipt | None:
        """Append what `fn` returns for the newest state, only if the session is still at it."""
        raise NotImplementedError

    async def _newest(self) -> SessionState:
        """Return the state with what was just appended: one to look at, not to keep."""
        raise NotImplementedError

    async def _before_asking(self) -> None:
        """Begin the turn that ends with the question, where turns begin by themselves."""

    def _reads_clock(self) -> datetime:
        raise NotImplementedError

    async def _handed(self, handoff_id: str) -> Handoff:
        """Begin the child session of a handoff unless that was done; return the handoff."""
        raise NotImplementedError

    async def request_approval(  # noqa: PLR0913 - a keyword for each thing one may say of it
        self,
        question: str,
        /,
        *,
        call_id: str | None = None,
        tool: str | None = None,
        arguments: Any = None,
        choices: Sequence[str] | None = None,
        expires_in_s: float | None = None,
        expires_at: datetime | str | None = None,
        requested_of: str | None = None,
        approval_id: str | None = None,
    ) -> Approval:
        """Ask somebody to allow something, and end the turn that is open to wait for it.

        What is asked is a call of `tool` with `arguments`, or the call `call_id` of a model, or
        just the question. Asking the same again is the same approval, with its answer if there is
        one: give an `approval_id` to ask anew. Raises AppendRejected, and what `decide` raises.
        """
        ask = Ask(question, expires_in_s, requested_of, choices)
        ids: list[str] = []

        def decision(state: SessionState) -> list[Event]:
            event = request_of(
                ask,
                moment(state, self._reads_clock()),
                approval_id=approval_id,
                call_id=call_id,
                digest=digest_of_call(state, call_id, tool, arguments),
                expires_at=expires_at,
            )
            ids.append(event.approval_id)
            return asking(state, event)

        await self._before_asking()
        await self.decide(decision, attempts=TRIES)
        return (await self._newest()).approvals[ids[-1]]

    async def request_input(
        self, question: str, /, *, schema: Any = None, input_id: str | None = None
    ) -> Question:
        """Ask somebody for something, and end the turn that is open to wait for the answer.

        `schema` says what the answer is to be like, for whoever asks it. Asking the same again is
        the same question, with its answer if there is one: give an `input_id` to ask anew. Raises
        what `decide` raises.
        """
        event = input_of(question, schema, input_id)
        await self._before_asking()
        await self.decide(lambda state: asking(state, event), attempts=TRIES)
        return (await self._newest()).questions[event.input_id]

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
            event = handing_off(state, wanted, moment(state, self._reads_clock()))
            ids.append(event.handoff_id)
            return handing(state, event)

        await self._before_asking()
        await self.decide(decision, attempts=TRIES)
        return await self._handed(ids[-1])
