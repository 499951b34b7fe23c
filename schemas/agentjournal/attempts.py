"""An attempt of a plan's step in the hands of whoever runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Protocol

from agentjournal.errors import LimitExceeded, NoOutcome
from agentjournal.events import Event, Failure, StepCompleted, StepFailed, StepStarted
from agentjournal.events.tool import Effect
from agentjournal.ids import StreamId
from agentjournal.limits import outcomes
from agentjournal.outcomes import is_unknown
from agentjournal.plan_decisions import completion_of, failure_of_step
from agentjournal.planning import Moment, StepState
from agentjournal.receipts import Receipt


class Recording(Protocol):
    """Where the outcome of an attempt goes."""

    stream: StreamId

    async def append(self, events: Sequence[Event], /) -> Receipt: ...
    def now(self) -> Moment: ...


class Attempt:
    """One attempt of a step, that is recorded as begun.

    `idempotency_key` goes along to the outside system: it is the same for every attempt of a step
    whose outcome is unknown, in any process, and another one after a recorded failure.
    """

    def __init__(
        self, step: StepState, begun: StepStarted, effect: Effect, recording: Recording
    ) -> None:
        self.step = step  # as it was when this attempt began
        self.effect: Effect = effect
        self.outcome: StepCompleted | StepFailed | None = None
        self.begun, self._recording = begun, recording
        self.stream = recording.stream

    @property
    def step_id(self) -> str:
        return self.begun.step_id

    @property
    def idempotency_key(self) -> str:
        return self.begun.idempotency_key

    async def complete(self, result: Any = None, *, also: Sequence[Event] = ()) -> Receipt:
        """Record that it ended well, and `also` other events with it. Raises what `append` raises.

        `result` is kept exactly. Where a limit refuses the others, the outcome is recorded alone,
        and LimitExceeded raised.
        """
        return await self._end(completion_of(self.begun, result), also)

    async def fail(self, error: BaseException | str | Failure) -> Receipt:
        """Record that it ended badly, and that this is known. Raises what `append` raises.

        When it is tried again follows from the retry policy of the step.
        """
        now = self._recording.now().at
        return await self._end(failure_of_step(self.begun, self.step, error, now), ())

    async def _end(self, event: StepCompleted | StepFailed, also: Sequence[Event]) -> Receipt:
        if self.outcome is not None:
            raise ValueError(f"step {self.step_id!r} was given an outcome already")
        try:
            receipt = await self._recording.append([event, *also])
        except LimitExceeded:
            await self._recording.append([event, *outcomes(also)])
            self.outcome = event
            raise
        self.outcome = event
        return receipt

    def __repr__(self) -> str:
        return f"<Attempt {self.begun.attempt} of {self.step_id!r}>"


class Attempting:
    """What `plan.run` returns: enter it to record the attempt, leave it with an outcome.

    Left without one it raises NoOutcome, and the outcome is unknown. Left by an error that tells
    the end it is recorded as failed; cut off, or left by a time-out or a lost connection of an
    effect that is not only to read, it stays unknown. The error goes on in either case.
    """

    def __init__(
        self,
        begin: Callable[[], Awaitable[Attempt]],
        leave: Callable[[str], None],
        unknown_on: tuple[type[BaseException], ...] = (),
    ) -> None:
        self._begin, self._leave, self._unknown_on = begin, leave, unknown_on
        self._attempt: Attempt | None = None

    async def __aenter__(self) -> Attempt:
        self._attempt = await self._begin()
        return self._attempt

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        attempt = self._attempt
        if attempt is None:
            return
        try:
            if attempt.outcome is not None:
                return
            if error is None:
                raise NoOutcome(attempt.stream, f"step {attempt.step_id!r}")
            if not is_unknown(error, attempt.effect, self._unknown_on):
                await attempt.fail(error)
        finally:
            self._leave(attempt.step_id)
