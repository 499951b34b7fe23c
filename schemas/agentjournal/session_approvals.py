"""What a session asks people: to allow something, or to tell it something."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from agentjournal.approvals import Ask, asking, input_of, is_over, request_of
from agentjournal.calls import arguments_text_of
from agentjournal.codec import decode
from agentjournal.digests import arguments_digest
from agentjournal.errors import (
    AnsweredTooLate,
    AppendRejected,
    ApprovalNotFound,
    InputNotFound,
)
from agentjournal.events import (
    ApprovalDenied,
    ApprovalExpired,
    ApprovalGranted,
    Event,
    InputProvided,
)
from agentjournal.events.decode import rejection
from agentjournal.execution_state import Approval, Question
from agentjournal.session_calls import SessionCalls
from agentjournal.state import SessionState

_TRIES = 20


class SessionApprovals(SessionCalls):
    """Approvals and questions of a session, and the answers to them."""

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
        one: give an `approval_id` to ask anew. Raises CallNotFound, AppendRejected, and what
        `decide` raises.
        """
        ask = Ask(question, expires_in_s, requested_of, choices)
        ids: list[str] = []

        def decision(state: SessionState) -> list[Event]:
            digest = digest_of_call(state, call_id, tool, arguments)
            event = request_of(
                ask,
                moment(state, self.now()),
                approval_id=approval_id,
                call_id=call_id,
                digest=digest,
                expires_at=expires_at,
            )
            ids.append(event.approval_id)
            return asking(state, event)

        await self.decide(decision, attempts=_TRIES)
        return (await self.current()).approvals[ids[-1]]

    async def grant(
        self,
        approval_id: str,
        *,
        by: str,
        comment: str | None = None,
        edited_arguments: Any = None,
    ) -> Approval:
        """Allow what was asked about; return the approval with the answer that counts: the first.

        It holds for exactly the arguments that were asked about, or for `edited_arguments`, a value
        or JSON text, in place of them. Raises ApprovalNotFound, AnsweredTooLate once it has
        expired, AppendRejected, and what `decide` raises.
        """
        text = None if edited_arguments is None else _json_text(edited_arguments)
        try:
            event = ApprovalGranted(
                approval_id=approval_id, by=by, comment=comment, edited_arguments_text=text
            )
        except ValidationError as error:
            raise rejection(error) from None
        return await self._answer(event)

    async def deny(self, approval_id: str, *, by: str, comment: str | None = None) -> Approval:
        """Refuse what was asked about; return the approval with the answer that counts: the first.

        The model reads the comment. Raises what `grant` raises.
        """
        try:
            event = ApprovalDenied(approval_id=approval_id, by=by, comment=comment)
        except ValidationError as error:
            raise rejection(error) from None
        return await self._answer(event)

    async def _answer(self, event: ApprovalGranted | ApprovalDenied) -> Approval:
        approval_id = event.approval_id

        def decision(state: SessionState) -> Event | None:
            held = state.approvals.get(approval_id)
            if held is None:
                raise ApprovalNotFound(self.stream, approval_id)
            if held.outcome != "open":
                return None
            if is_over(held, moment(state, self.now())):
                return ApprovalExpired(approval_id=approval_id)
            return event

        await self.decide(decision, attempts=_TRIES)
        held = (await self.current()).approvals[approval_id]
        if held.outcome == "expired":
            raise AnsweredTooLate(self.stream, approval_id, held.expires_at or "")
        return held

    async def request_input(
        self, question: str, /, *, schema: Any = None, input_id: str | None = None
    ) -> Question:
        """Ask somebody for something, and end the turn that is open to wait for the answer.

        `schema` says what the answer is to be like, for whoever asks it. Asking the same again is
        the same question, with its answer if there is one: give an `input_id` to ask anew. Raises
        what `decide` raises.
        """
        event = input_of(question, schema, input_id)
        await self.decide(lambda state: asking(state, event), attempts=_TRIES)
        return (await self.current()).questions[event.input_id]

    async def provide_input(self, input_id: str, value: Any, /, *, by: str) -> Question:
        """Answer a question; return it with the answer that counts: the first.

        Raises InputNotFound, AppendRejected, and what `decide` raises.
        """
        try:
            event = InputProvided(input_id=input_id, by=by, value=value)
        except ValidationError as error:
            raise rejection(error) from None

        def decision(state: SessionState) -> Event | None:
            held = state.questions.get(input_id)
            if held is None:
                raise InputNotFound(self.stream, input_id)
            return event if held.answered_version is None else None

        await self.decide(decision, attempts=_TRIES)
        return (await self.current()).questions[input_id]


def digest_of_call(
    state: SessionState, call_id: str | None, tool: str | None, arguments: Any
) -> str | None:
    """Return the digest of the arguments that are asked about, None when it is about none.

    Raises AppendRejected when there are arguments of no tool, or the call's are no JSON.
    """
    if tool is not None:
        given = decode(_json_text(arguments).encode()) if isinstance(arguments, str) else arguments
        return arguments_digest(tool, given)
    if arguments is not None:
        raise AppendRejected("arguments", "are given without the tool that they are for")
    held = None if call_id is None else state.calls.get(call_id)
    if held is None:
        return None
    try:
        return arguments_digest(held.tool, held.arguments)
    except ValueError:
        raise AppendRejected("call_id", "is of a call whose arguments are no JSON") from None


def moment(state: SessionState, now: datetime) -> datetime:
    """Return the time: never earlier than the broker's when it recorded what was last read."""
    if state.last is None:
        return now
    return max(now, datetime.fromisoformat(state.last.recorded_at))


def _json_text(arguments: Any) -> str:
    text = arguments_text_of(arguments)
    try:
        decode(text.encode())
    except ValueError:
        raise AppendRejected("arguments", "are no JSON") from None
    return text
