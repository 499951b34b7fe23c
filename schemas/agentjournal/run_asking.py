"""What a run asks people, and how it waits for them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from agentjournal.approvals import is_allowed, lapsed, moment
from agentjournal.asking import TRIES, Asking, Decision, decided
from agentjournal.errors import ApprovalNotFound, InputNotFound, VersionConflict
from agentjournal.events import Event, TurnEnded, TurnStarted
from agentjournal.execution_state import Approval, Question
from agentjournal.ids import new_event_id
from agentjournal.receipts import Receipt
from agentjournal.run_state import Known
from agentjournal.state import SessionState
from agentjournal.turns import Trigger, begin_for, waiting


class RunAsking(Known, Asking):
    """What a run asks, and how its turns begin and wait."""

    @property
    def moment(self) -> datetime:
        """The time, by the broker's clock as far as it is known here."""
        return moment(self.state, self.session.now())

    async def _newest(self) -> SessionState:
        return self.state

    def _reads_clock(self) -> datetime:
        return self.session.now()

    async def _before_asking(self) -> None:
        await self.begin_turn()

    def approval(self, approval_id: str) -> Approval:
        """Return an approval, with its answer if this run knows one. Raises ApprovalNotFound."""
        held = self.state.approvals.get(approval_id)
        if held is None:
            raise ApprovalNotFound(self.session.stream, approval_id)
        return held

    def allows(self, tool: str, arguments: Any) -> bool:
        """Whether somebody granted a call of `tool` with exactly these arguments."""
        return is_allowed(self.state, tool, arguments)

    def question(self, input_id: str) -> Question:
        """Return a question, with its answer if this run knows one. Raises InputNotFound."""
        held = self.state.questions.get(input_id)
        if held is None:
            raise InputNotFound(self.session.stream, input_id)
        return held

    async def wait(self, *, since: int | None = None) -> bool:
        """End the turn to wait for those who were asked; return whether it waits.

        An answer that came meanwhile leaves the turn open, and returns False. `since` is the
        `answered_version` of the state that is known to hold no answer, by default this run's.
        """
        known = self.state.answered_version if since is None else since

        def decision(state: SessionState) -> list[Event]:
            return [] if state.answered_version > known else waiting(state)

        await self.decide(decision)
        return self.state.answered_version <= known

    async def decide(self, fn: Decision, /, *, attempts: int = TRIES) -> Receipt | None:
        """Append what `fn` returns for the newest state under the fence; see `Session.decide`."""

        async def append(events: list[Event], version: int) -> Receipt:
            try:
                return await self.append(events, expected_version=version)
            except VersionConflict:
                await self.refresh()
                raise

        return await decided(fn, self._newest, append, attempts)

    async def begin_turn(self) -> None:
        """Begin a turn if one is due and none is open. Raises what `append` raises."""
        await self.catch_up()
        if self.state.turn_id is None and self._due():
            await self.append(self._opening())

    async def lapse(self) -> None:
        """Record of approvals whose time has passed that they have expired."""
        await self.decide(lambda state: lapsed(state, self.moment))

    def _opening(self, until: int | None = None) -> list[Event]:
        """Return what begins a turn where one is due, and takes up what came in, `until` a version.

        The model must have been shown what a turn takes up.
        """
        state = self.state
        unseen = [m.version for m in self.inbox if until is None or m.version <= until]
        if state.turn_id is not None:
            if not unseen:
                return []
            return [TurnEnded(turn_id=state.turn_id, reason="interrupted"), turn("user", unseen)]
        return [turn(self._due() or "resume", unseen)]

    def _due(self) -> Trigger | None:
        return begin_for(self.state, self.session.now())


def turn(trigger: Trigger, input_versions: Sequence[int]) -> TurnStarted:
    """Return the event that begins a turn with these messages."""
    return TurnStarted(turn_id=new_event_id(), trigger=trigger, input_versions=list(input_versions))
