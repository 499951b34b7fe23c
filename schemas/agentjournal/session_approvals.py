"""What a session asks people: to allow something, or to tell it something."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import ValidationError

from agentjournal.approvals import is_over, json_text, moment
from agentjournal.asking import TRIES, Asking
from agentjournal.errors import (
    AnsweredTooLate,
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


class SessionApprovals(SessionCalls, Asking):
    """Asking in a session, and answering what is asked in it."""

    async def _newest(self) -> SessionState:
        return await self.current()

    def _reads_clock(self) -> datetime:
        return self.now()

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
        text = None if edited_arguments is None else json_text(edited_arguments)
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

        await self.decide(decision, attempts=TRIES)
        held = (await self.current()).approvals[approval_id]
        if held.outcome == "expired":
            raise AnsweredTooLate(self.stream, approval_id, held.expires_at or "")
        return held

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

        await self.decide(decision, attempts=TRIES)
        return (await self.current()).questions[input_id]
