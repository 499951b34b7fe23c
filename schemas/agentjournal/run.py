"""A worker's run on a session: it holds the lease, knows the state, and writes under the fence."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal, Self, TypeAlias

from agentjournal.calls import Call, Calling, arguments_text_of, next_call
from agentjournal.errors import AppendRejected, NeedsVerification
from agentjournal.events import (
    Event,
    Failure,
    MessageAdded,
    ModelCalled,
    Part,
    TextPart,
    ToolCallPart,
    TurnEnded,
    TurnStarted,
)
from agentjournal.events.message import Role
from agentjournal.events.tool import Effect
from agentjournal.finishing import finish
from agentjournal.ids import new_event_id
from agentjournal.outgoing import checked_id
from agentjournal.receipts import Receipt
from agentjournal.responses import recorded_response
from agentjournal.run_asking import turn
from agentjournal.run_checkpoints import RunCheckpoints
from agentjournal.run_state import READ_S
from agentjournal.session_calls import given_events
from agentjournal.state import SessionState
from agentjournal.streaming import StreamedMessage
from agentjournal.tools import Tools, tools_by_name
from agentjournal.turns import inbox, waits
from agentjournal.windows.tokens import Count
from agentjournal.windows.tool_output import MAX_CHARACTERS
from agentjournal.windows.window import Window, WindowFormat

EndReason: TypeAlias = Literal["completed", "interrupted", "failed", "waiting", "limit"]


class Run(RunCheckpoints):
    """What a worker has of a session while it holds the lease.

    `session` is a handle that writes under the fence; `state` what the session has come to, as far
    as this run knows. Everything that writes raises LeaseLost once another worker took the session:
    nothing was changed then, and nothing more should be done.
    """

    _asked_at: float | None = None  # when the last window was made
    _shown: int | None = None  # the version that it showed

    async def say(
        self, content: str | Sequence[Part], /, *, message_id: str | None = None
    ) -> Receipt | None:
        """Record what the user says, before anything else; a turn begins with it if none is open.

        With a `message_id` that the session has nothing is written, and None returned: so one may
        say the same again after a crash. Raises what `append` raises.
        """
        parts: list[Part] = [TextPart(text=content)] if isinstance(content, str) else [*content]
        message = MessageAdded(
            role="user",
            parts=parts,
            message_id=message_id or new_event_id(),
        )

        def decision(state: SessionState) -> list[Event]:
            if any(each.message_id == message.message_id for each in state.messages):
                return []
            if state.turn_id is not None:
                return [message]
            seen = [each.version for each in inbox(state)]
            # The turn names the version that the message will have.
            return [turn("user", [*seen, state.version + 2]), message]

        await self.catch_up()
        return await self.decide(decision)

    async def record(
        self,
        response: Any,
        /,
        *,
        duration_ms: float | None = None,
        request_model: str | None = None,
        attempt: int = 1,
    ) -> Receipt:
        """Record what a model answered: its message with its tool calls, and the call, in one.

        `response` is an OpenAI chat completion, an OpenAI response, an Anthropic message, or a dict
        of one; or events. The turn ends with an answer that asks for no tool. `duration_ms` is
        the time since `window` unless given. Raises TypeError for anything else, and what
        `append` raises.
        """
        events = given_events(response)
        if events is None:
            events = recorded_response(
                response,
                duration_ms=self._duration_ms() if duration_ms is None else duration_ms,
                request_model=request_model,
                attempt=attempt,
                taken=self.state.calls,
            )
        return await self.append(self._in_turn(events))

    def stream_message(
        self,
        role: Role = "assistant",
        *,
        message_id: str | None = None,
        model_call_id: str | None = None,
        unredacted: bool = False,
    ) -> StreamedMessage:
        """Return a message to write piece by piece; see `Session.stream_message`.

        An assistant's that asks for no tool ends the turn, as with `record`.
        """
        message = self.session.stream_message(
            role, message_id=message_id, model_call_id=model_call_id, unredacted=unredacted
        )
        return message.recorded_by(self._record_streamed)

    async def _record_streamed(self, events: Sequence[Event], append_id: str) -> Receipt:
        is_cut_off = any(
            isinstance(each, MessageAdded) and each.status == "incomplete" for each in events
        )
        batch = self._in_turn(events, is_cut_off=is_cut_off)
        return await self.append(batch, append_id=append_id)

    async def window(
        self,
        *,
        max_tokens: int | None = None,
        trim_to: float = 0.7,
        format: WindowFormat = "openai-chat",  # noqa: A002 - the field's word
        count: Count | None = None,
        max_output: int = MAX_CHARACTERS,
        timeout_s: float = READ_S,
    ) -> Window:
        """Return the conversation for the model, with all that came in; see `Session.window`.

        What the user said meanwhile is taken up by a turn first: an open one ends as interrupted.
        Raises ConstraintViolated when the session works on a handoff that allows no more.
        """
        await self.refresh(timeout_s=timeout_s)
        if self.inbox or (self.state.turn_id is None and self._due()):
            await self.append(self._opening())
        self._shown = self.state.version
        await self.check_constraints()
        window = await self.session.window(
            max_tokens=max_tokens,
            trim_to=trim_to,
            format=format,
            count=count,
            max_output=max_output,
            timeout_s=timeout_s,
        )
        self._asked_at = time.perf_counter()
        return window

    async def end_turn(
        self,
        reason: EndReason = "completed",
        *,
        error: Failure | None = None,
        resume_at: str | None = None,
    ) -> Receipt | None:
        """End the turn that is open, if there is one. Raises what `append` raises."""
        turn_id = self.state.turn_id
        if turn_id is None:
            return None
        event = TurnEnded(turn_id=turn_id, reason=reason, error=error, resume_at=resume_at)
        return await self.append(event)

    async def finish_open_calls(self, tools: Tools, /, *, concurrency: int = 8) -> None:
        """Run the calls that the model asked for, and find out about those that were cut off.

        Completed ones are not run again. `tools` are functions by the names that the model knows,
        or tools; at most `concurrency` run at once. A failure is recorded and shown to the model.
        A call that waits for an approval ends the turn: see `waiting`.

        Raises NeedsVerification for calls whose outcome nobody knows, when all others are done,
        ConstraintViolated when the session works on a handoff that allows no more.
        """
        await self.begin_turn()
        await self.check_constraints()
        try:
            await finish(self, tools_by_name(tools), concurrency)
        finally:
            await self.catch_up()

    def call(
        self,
        tool: str,
        arguments: Any,
        /,
        *,
        effect: Effect = "external",
        call_id: str | None = None,
        lease_s: float | None = None,
        unknown_on: tuple[type[BaseException], ...] = (),
    ) -> Calling:
        """Record a tool call around its effect; see `Session.call`. Its lease is this run's.

        Entering raises ConstraintViolated when the handoff that is worked on does not allow it.
        """
        call = Call(
            self.session.stream,
            checked_id("tool", tool),
            arguments_text_of(arguments),
            call_id=new_event_id() if call_id is None else checked_id("call_id", call_id),
            effect=effect,
            lease_s=self.lease_s if lease_s is None else lease_s,
        )

        async def find() -> tuple[Call, int | None]:
            await self.catch_up()
            await self.check_constraints()
            if call.call_id in self.calling or call.call_id in self.going:
                raise NeedsVerification(self.session.stream, [call])
            following = next_call(self.state, call)
            await self.check_call(following)
            self.calling.add(call.call_id)
            self.begun.add(call.call_id)
            return following, None  # nobody else begins one under this lease

        return Calling(find, self.append, unknown_on, lambda: self.calling.discard(call.call_id))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.release()

    def _in_turn(self, events: Sequence[Event], *, is_cut_off: bool = False) -> list[Event]:
        """Return what the assistant says with the beginning and the end of its turn.

        What came in since the model was shown the session is left for the next turn.
        """
        state = self.state
        self._refuse_known_calls(events)
        opening = [] if state.turn_id is not None else self._opening(self._shown)
        batch = [*opening, *events]
        if _is_answer(events) and not is_cut_off:
            begun = [each.turn_id for each in batch if isinstance(each, TurnStarted)]
            turn_id = (begun[-1] if begun else state.turn_id) or ""
            batch.append(
                TurnEnded(turn_id=turn_id, reason="waiting" if waits(state) else "completed")
            )
        return batch

    def _refuse_known_calls(self, events: Sequence[Event]) -> None:
        """Refuse calls whose ids the session has: they would be taken for those, and not run."""
        known = set(self.state.calls)
        for index, event in enumerate(events):
            parts = event.parts if isinstance(event, MessageAdded) else []
            for at, part in enumerate(parts):
                if not isinstance(part, ToolCallPart):
                    continue
                if part.call_id in known:
                    place = f"events[{index}].data.parts[{at}].call_id"
                    raise AppendRejected(
                        place, f"{part.call_id!r} is a call of this session already"
                    )
                known.add(part.call_id)

    def _duration_ms(self) -> float:
        if self._asked_at is None:
            return 0
        return round((time.perf_counter() - self._asked_at) * 1_000, 3)


def _is_answer(events: Sequence[Event]) -> bool:
    """Whether the assistant has said all in `events`, and asks for no tool."""
    said = [e for e in events if isinstance(e, MessageAdded) and e.role == "assistant"]
    is_paused = any(isinstance(e, ModelCalled) and e.finish_reason in _PAUSED for e in events)
    return (
        bool(said)
        and not is_paused
        and not any(isinstance(part, ToolCallPart) for message in said for part in message.parts)
    )


_PAUSED = frozenset({"pause_turn"})  # Anthropic's: asked again, the model goes on
