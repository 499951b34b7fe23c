"""What a run knows of its session: the state, with its own events in it as they are recorded."""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from agentjournal.errors import AppendOutcomeUnknown, LimitExceeded
from agentjournal.estimates import estimated_tokens
from agentjournal.events import Event, Failure, MessageAdded, ToolCallPart, TurnEnded, TurnStarted
from agentjournal.ids import Version
from agentjournal.leasing import Keeper
from agentjournal.limits import outcomes
from agentjournal.receipts import Receipt
from agentjournal.state import Message, SessionState
from agentjournal.stored import written_time
from agentjournal.tool_calls import ToolCall
from agentjournal.turns import inbox, is_answered

if TYPE_CHECKING:
    from agentjournal.session import Session


class OwnEvent(NamedTuple):
    """An event of a run, as the fold takes it before the read models show it."""

    version: Version
    event: Event
    recorded_at: str  # this process's clock, until the broker's is read
    hash: str = ""

    @property
    def type(self) -> str:
        return self.event.type

    @property
    def tokens(self) -> int | None:
        return estimated_tokens(self.event)

    @property
    def schema_version(self) -> int:
        return self.event.schema_version


READ_S = 30.0  # how long the read models may be behind before a run gives up


class Known:
    """The state of a session that this process holds the lease of, and writes to.

    Own events are folded as they are recorded, without waiting for the read models; others' are
    read by `refresh`. An own event behind others' is kept until these are read.
    """

    def __init__(self, session: Session, state: SessionState, keeper: Keeper) -> None:
        self.session, self.state, self._keeper = session, state, keeper
        lease = keeper.lease
        self.worker, self.fence, self.lease_s = lease.holder, lease.fence, lease.lease_s
        self.going: set[str] = set()  # ids of calls that are being finished here
        self.calling: set[str] = set()  # ids of calls whose blocks the agent is in
        self.begun: set[str] = set()  # ids of calls that this run began
        self.threads: dict[str, Future[Any]] = {}  # of calls given up, that run on
        self._is_dirty = False  # whether something was sent of which nobody knows the outcome
        self._held_from = session.time.monotonic()
        self._ahead: dict[int, list[Event]] = {}  # by first version
        # Arguments of the calls that were asked for here, where the log may not have all of them.
        self._asked: dict[str, str] = {}
        if state.version < lease.fence:
            self._ahead[lease.fence] = [lease]
            self._fold_ahead()
        keeper.recorded = lambda event, receipt: self._recorded([event], receipt)

    @property
    def answered(self) -> bool:
        """Whether nothing is left to do: no message, no open turn, no answer to go on with.

        Also while the session waits, for an approval or another agent: see `waiting`.
        """
        return is_answered(self.state, self.session.now())

    @property
    def waiting(self) -> bool:
        """Whether the last turn ended to wait for somebody, and nobody has answered."""
        turn = self.state.turn
        return turn is not None and turn.reason == "waiting" and self.answered

    @property
    def inbox(self) -> list[Message]:
        """The user's messages that no turn has taken up yet."""
        return inbox(self.state)

    @property
    def completed(self) -> list[ToolCall]:
        """Calls that ended well."""
        return [call for call in self.state.calls.values() if call.outcome == "completed"]

    @property
    def failed(self) -> list[ToolCall]:
        """Calls that ended badly, and this is known."""
        return [call for call in self.state.calls.values() if call.outcome == "failed"]

    @property
    def unknown(self) -> list[ToolCall]:
        """Calls that an earlier run began and that have no outcome: nobody knows what came of them.

        A call that this run left without an outcome is among them. One that others began meanwhile,
        without this run's lease, is only when its own time has passed.
        """
        calls = self.state.open_calls
        return [call for call in calls if call.attempt and self._is_cut_off(call)]

    def _is_cut_off(self, call: ToolCall) -> bool:
        if call.call_id in self.going or call.call_id in self.calling:
            return False
        if (call.started_version or 0) < self.fence or call.call_id in self.begun:
            return True
        if call.started_at is None or call.lease_s is None:
            return True
        over = datetime.fromisoformat(call.started_at) + timedelta(seconds=call.lease_s)
        return over <= self.session.now()

    @property
    def open(self) -> list[ToolCall]:
        """Calls without an outcome that are not unknown: asked for, or going on in this run."""
        unknown = {call.call_id for call in self.unknown}
        return [call for call in self.state.open_calls if call.call_id not in unknown]

    @property
    def held_s(self) -> float:
        """Seconds since the lease was taken, or a little less."""
        return self.session.time.monotonic() - self._held_from

    async def refresh(self, *, timeout_s: float = READ_S) -> SessionState:
        """Read what others wrote meanwhile; return the state. Raises what `load` raises."""
        self._check_lease()
        self._is_dirty = False
        state = (await self.session.current(timeout_s=timeout_s)).copied()
        if state.version < self.state.version:
            return self.state  # another read, or an append, was faster
        self.state = state
        self._put_back(state)
        self._ahead = {v: each for v, each in self._ahead.items() if v > state.version}
        self._fold_ahead()
        return state

    async def append(
        self,
        events: Event | Sequence[Event],
        /,
        *,
        expected_version: int | None = None,
        append_id: str | None = None,
    ) -> Receipt:
        """Append events under the fence.

        Where a limit refuses them, the turn ends, and outcomes among them are recorded all the
        same. Raises what `Session.append` raises, and LeaseLost.
        """
        self._check_lease()
        batch = [events] if isinstance(events, Event) else list(events)
        try:
            receipt = await self._append(batch, expected_version, append_id)
        except LimitExceeded as error:
            if left := self._left_of(batch, error, is_decision=expected_version is not None):
                await self._append(left)
            raise
        if not self.going:  # else calls that go on at once may fill the gap, and nobody looks yet
            await self.catch_up()
        return receipt

    async def _append(
        self,
        batch: Sequence[Event],
        expected_version: int | None = None,
        append_id: str | None = None,
    ) -> Receipt:
        try:
            receipt = await self.session.append(
                batch, expected_version=expected_version, append_id=append_id
            )
        except (AppendOutcomeUnknown, asyncio.CancelledError):
            self._is_dirty = True
            raise
        self._recorded(batch, receipt)
        return receipt

    def _left_of(
        self, refused: Sequence[Event], error: LimitExceeded, *, is_decision: bool
    ) -> list[Event]:
        """Return what is recorded in place of a refused batch.

        The turn ends, or worker after worker would find it open and could do nothing either. What
        was decided on a state is left to whoever decides anew.
        """
        ended = [] if is_decision else outcomes(refused)
        opening = [event for event in refused if isinstance(event, TurnStarted)]
        turn_id = opening[-1].turn_id if opening else self.state.turn_id
        if turn_id is None:
            return ended
        failure = Failure(type="limit_exceeded", message=str(error))
        return [*opening, *ended, TurnEnded(turn_id=turn_id, reason="limit", error=failure)]

    def _recorded(self, events: Sequence[Event], receipt: Receipt) -> None:
        if self.session.redacts:
            self._asked |= _arguments_of(events)
        if receipt.first_version > self.state.version:
            self._ahead[receipt.first_version] = list(events)
            self._fold_ahead()

    def _put_back(self, state: SessionState) -> None:
        """Give calls that this run recorded the arguments that were taken out on their way."""
        for call_id, text in list(self._asked.items()):
            call = state.calls.get(call_id)
            if call is not None and call.is_redacted and call.outcome != "completed":
                state.calls[call_id] = replace(call, arguments_text=text, is_redacted=False)
            elif call is not None:
                del self._asked[call_id]

    async def catch_up(self) -> None:
        """Read what others wrote between this run's events, and what became of what was unknown."""
        if self._ahead or self._is_dirty:
            await self.refresh()

    def _fold_ahead(self) -> None:
        at = written_time(self.session.now())
        while (events := self._ahead.pop(self.state.version + 1, None)) is not None:
            for event in events:
                version = Version(self.state.version + 1)
                self.state.apply(OwnEvent(version, event, at))

    def _check_lease(self) -> None:
        if self._keeper.lost is not None:
            raise self._keeper.lost

    async def release(self) -> None:
        """Give the lease back. Raises nothing: one that cannot be given back passes by itself."""
        await self._keeper.release()

    async def abandon(self) -> None:
        """Stop renewing the lease, and leave it to pass by itself."""
        await self._keeper.stop()


def _arguments_of(events: Sequence[Event]) -> dict[str, str]:
    return {
        part.call_id: part.arguments_text
        for event in events
        if isinstance(event, MessageAdded)
        for part in event.parts
        if isinstance(part, ToolCallPart)
    }
