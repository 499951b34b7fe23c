"""What a session's agent does to the world: tool calls, and decisions on the newest state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentjournal.asking import Decision, decided
from agentjournal.calls import Call, Calling, arguments_text_of, next_call, settled
from agentjournal.errors import CallNotFound
from agentjournal.events import Event, ToolFailure
from agentjournal.events.tool import Effect, SettledBy
from agentjournal.ids import new_event_id
from agentjournal.outgoing import checked_id
from agentjournal.receipts import Receipt
from agentjournal.responses import recorded_response
from agentjournal.session_files import SessionFiles
from agentjournal.state import Message, SessionState
from agentjournal.tool_calls import ToolCall
from agentjournal.turns import inbox

CALL_LEASE_S = 60.0  # how long a call may take, as far as others know, when nobody said


class SessionCalls(SessionFiles):
    """Tool calls of a session, and appends that depend on what it has come to."""

    async def current(self, *, timeout_s: float = 5.0) -> SessionState:
        """Return the newest state; an empty one when the session has not begun."""
        raise NotImplementedError

    def call(
        self,
        tool: str,
        arguments: Any,
        /,
        *,
        effect: Effect = "external",
        call_id: str | None = None,
        lease_s: float = CALL_LEASE_S,
        unknown_on: tuple[type[BaseException], ...] = (),
    ) -> Calling:
        """Record a tool call around its effect: `async with session.call("pay", {…}) as call`.

        `arguments` are a value, or JSON text. Inside, `call.idempotency_key` goes along to the
        outside system, and `await call.complete(…)` or `call.fail(…)` says what came of it.
        Entering records `tool.started`; leaving is told at `Calling`. With a `call_id` the call may
        have been tried before. After `lease_s` others take an open call for unknown.

        Entering raises CallEnded when the call is completed, NeedsVerification when its outcome
        is unknown, AppendRejected for arguments that cannot be written, and what `append` raises.
        """
        checked_id("tool", tool)
        call = Call(
            self.stream,
            tool,
            arguments_text_of(arguments),
            call_id=new_event_id() if call_id is None else checked_id("call_id", call_id),
            effect=effect,
            lease_s=lease_s,
        )

        async def find() -> tuple[Call, int | None]:
            if call_id is None:
                return call, None
            state = await self.current()
            return next_call(state, call), state.version

        return Calling(find, self.append, unknown_on)

    async def record(
        self,
        response: Any,
        /,
        *,
        duration_ms: float = 0.0,
        request_model: str | None = None,
        attempt: int = 1,
    ) -> Receipt:
        """Record what a model answered: its message with its tool calls, and the call, in one.

        `response` is an OpenAI chat completion, an OpenAI response, an Anthropic message, or a dict
        of one; or events. Turns are a run's: this begins and ends none. Raises TypeError for
        anything else, and what `append` raises: what the call came to is recorded even where a
        limit refuses the message.
        """
        events = given_events(response)
        if events is None:
            events = recorded_response(
                response,
                duration_ms=duration_ms,
                request_model=request_model,
                attempt=attempt,
                taken=(await self.current()).calls,
            )
        return await self._said(events)

    async def inbox(self) -> list[Message]:
        """Return the user's messages that no turn has taken up yet, in their order.

        In a session that never had a turn these are the ones behind the last answer. Raises what
        `load` raises.
        """
        return inbox(await self.current())

    async def settle(
        self,
        call_id: str,
        *,
        output: Any = None,
        error: str | BaseException | ToolFailure | None = None,
        settled_by: SettledBy = "person",
        evidence: Any = None,
    ) -> ToolCall:
        """Say what came of a call, from anywhere; return it with the outcome that counts.

        That is the first one it was given: of a call that has an outcome nothing is written.
        Without an `error` it is completed. Raises CallNotFound, and what `decide` raises.
        """
        event = settled(
            call_id, output=output, error=error, settled_by=settled_by, evidence=evidence
        )

        def decision(state: SessionState) -> Event | None:
            held = state.calls.get(call_id)
            if held is None:
                raise CallNotFound(self.stream, call_id)
            return event if held.outcome == "open" else None

        await self.decide(decision, attempts=20)
        return (await self.current()).calls[call_id]

    async def decide(
        self,
        fn: Decision,
        /,
        *,
        attempts: int = 5,
        timeout_s: float = 30.0,
    ) -> Receipt | None:
        """Append what `fn` returns for the newest state, only if the session is still at it.

        `fn` is pure: it is called again, on the state that it lost to, up to `attempts` times. It
        returns events, or None or nothing for no change; then this returns None.
        Raises VersionConflict when the last attempt lost as well, what `fn` raises, and what `load`
        and `append` raise.
        """

        async def append(events: list[Event], version: int) -> Receipt:
            return await self.append(events, expected_version=version, timeout_s=timeout_s)

        return await decided(fn, self.current, append, attempts)


def given_events(response: Any) -> list[Event] | None:
    """Return the events that are given in place of a response; None when it is none of ours."""
    if isinstance(response, Event):
        return [response]
    if isinstance(response, Sequence) and not isinstance(response, str | bytes):
        events = [each for each in response if isinstance(each, Event)]
        return events if len(events) == len(response) else None
    return None
