"""A tool call in the hands of whoever runs it: recorded before the effect, and after it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Protocol, Self

from pydantic import ValidationError

from agentjournal.codec import decode, encode
from agentjournal.digests import arguments_digest, idempotency_key
from agentjournal.errors import CallEnded, NeedsVerification, NoOutcome, VersionConflict
from agentjournal.events import (
    Event,
    ToolCompleted,
    ToolFailed,
    ToolFailure,
    ToolSettled,
    ToolStarted,
)
from agentjournal.events.decode import rejection
from agentjournal.events.tool import Effect, SettledBy
from agentjournal.ids import StreamId
from agentjournal.outcomes import failure_of, is_unknown, output_and_result, shown_failure
from agentjournal.receipts import Receipt
from agentjournal.state import SessionState
from agentjournal.tool_calls import NOT_DONE_CODE, ToolCall, next_group


class Appends(Protocol):
    """Where the events of a call go."""

    async def __call__(
        self, events: Sequence[Event], /, *, expected_version: int | None = None
    ) -> Receipt: ...


def call_key(stream: StreamId, call_id: str, group: int) -> str:
    """Return the idempotency key of a call's attempts in one group."""
    return idempotency_key(stream, f"call:{call_id}", group)


class Call:
    """One attempt of a tool call.

    `idempotency_key` goes along to the outside system: it is the same for every attempt of a call
    whose outcome is unknown, in any process, and another one after a recorded failure.
    """

    def __init__(  # noqa: PLR0913 - all that is recorded of it
        self,
        stream: StreamId,
        tool: str,
        arguments_text: str,
        *,
        call_id: str,
        effect: Effect,
        lease_s: float,
        attempt: int = 1,
        group: int = 1,
        approval_id: str | None = None,
    ) -> None:
        self.stream, self.tool, self.arguments_text = stream, tool, arguments_text
        self.call_id, self.lease_s = call_id, lease_s
        self.effect: Effect = effect
        self.attempt, self.group, self.approval_id = attempt, group, approval_id
        self.idempotency_key = call_key(stream, call_id, group)
        self.outcome: ToolCompleted | ToolFailed | None = None
        self._append: Appends | None = None
        self._began = 0.0

    @property
    def arguments(self) -> Any:
        """The parsed arguments. Raises ValueError when they are no JSON."""
        return decode(self.arguments_text.encode())

    async def begin(self, append: Appends, expected_version: int | None = None) -> Self:
        """Record that the tool is about to run. Raises what `append` raises."""
        await append([self._started()], expected_version=expected_version)
        self._append, self._began = append, time.perf_counter()
        return self

    def _started(self) -> ToolStarted:
        try:
            return ToolStarted(
                call_id=self.call_id,
                tool=self.tool,
                arguments_text=self.arguments_text,
                arguments_digest=arguments_digest(self.tool, self.arguments),
                effect=self.effect,
                idempotency_key=self.idempotency_key,
                attempt=self.attempt,
                lease_s=self.lease_s,
                approval_id=self.approval_id,
            )
        except ValidationError as error:
            raise rejection(error) from None

    async def complete(self, output: Any = "", *, result: Any = None) -> Receipt:
        """Record that it ended well.

        `output` is what the model sees: text or parts, or any value, which it sees as JSON and
        which is kept exactly as the `result` unless another is given. Raises what `append` raises.
        """
        shown, value = (output, None) if _is_parts(output) else output_and_result(output)
        event = ToolCompleted(
            call_id=self.call_id,
            attempt=self.attempt,
            output=shown,
            result=value if result is None else result,
            duration_ms=round((time.perf_counter() - self._began) * 1_000, 3),
        )
        return await self._end(event)

    async def fail(
        self, error: BaseException | str | ToolFailure, *, output: str | None = None
    ) -> Receipt:
        """Record that it ended badly, and that this is known. Raises what `append` raises."""
        failure = failure_of(error)
        shown = output or getattr(error, "output", None) or shown_failure(failure)
        event = ToolFailed(call_id=self.call_id, attempt=self.attempt, error=failure, output=shown)
        return await self._end(event)

    async def _end(self, event: ToolCompleted | ToolFailed) -> Receipt:
        if self._append is None:
            raise ValueError(f"call {self.call_id!r} has not begun: use it in `async with`")
        if self.outcome is not None:
            raise ValueError(f"call {self.call_id!r} was given an outcome already")
        receipt = await self._append([event])
        self.outcome = event
        return receipt

    def __repr__(self) -> str:
        return f"<Call {self.tool} {self.call_id!r}, attempt {self.attempt}>"


def _is_parts(output: Any) -> bool:
    return (
        isinstance(output, list)
        and bool(output)
        and all(hasattr(part, "model_dump") and getattr(part, "type", None) for part in output)
    )


class Calling:
    """What `session.call` returns: enter it to record the call, leave it with an outcome.

    Left without one it raises NoOutcome, and the outcome is unknown. Left by an error that tells
    the end it is recorded as failed; cut off, or left by a time-out or a lost connection of an
    effect that is not only to read, it stays unknown. The error goes on in either case.
    """

    def __init__(
        self,
        find: Callable[[], Awaitable[tuple[Call, int | None]]],
        append: Appends,
        unknown_on: tuple[type[BaseException], ...] = (),
        leave: Callable[[], None] | None = None,
    ) -> None:
        """`find` gives the attempt and the version that it goes by; `leave` is told of the end."""
        self._find, self._append, self._unknown_on, self._leave = find, append, unknown_on, leave
        self._call: Call | None = None

    async def __aenter__(self) -> Call:
        while True:
            call, expected_version = await self._find()
            try:
                self._call = await call.begin(self._append, expected_version)
            except VersionConflict:
                if expected_version is None:
                    raise
                continue  # another may have begun the same call
            except BaseException:
                self._end()
                raise
            return call

    def _end(self) -> None:
        if self._leave is not None:
            self._leave()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        call = self._call
        try:
            if call is None or call.outcome is not None:
                return
            if error is None:
                raise NoOutcome(call.stream, f"call {call.call_id!r} of {call.tool}")
            if not is_unknown(error, call.effect, self._unknown_on):
                await call.fail(error)
        finally:
            self._end()


def next_call(state: SessionState, new: Call) -> Call:
    """Return the attempt that follows on what a session knows of the call.

    Raises CallEnded when it is completed, NeedsVerification when its outcome is unknown.
    """
    held = state.calls.get(new.call_id)
    if held is None:
        return new
    if held.outcome == "completed":
        raise CallEnded(new.stream, held)
    if held.outcome == "open" and held.attempt:
        raise NeedsVerification(new.stream, [held])
    return again(held, new)


def again(held: ToolCall, new: Call) -> Call:
    """Return `new` as the next attempt of a call: in one group all have the key of the first."""
    following = Call(
        new.stream,
        new.tool,
        new.arguments_text,
        call_id=held.call_id,
        effect=new.effect,
        lease_s=new.lease_s,
        attempt=held.attempt + 1,
        group=next_group(held),
        approval_id=new.approval_id,
    )
    if following.group == held.group and held.idempotency_key:
        following.idempotency_key = held.idempotency_key
    return following


def settled(
    call_id: str,
    *,
    output: Any = None,
    error: BaseException | str | ToolFailure | None = None,
    settled_by: SettledBy = "person",
    evidence: Any = None,
) -> ToolSettled:
    """Return the event that gives a call its outcome: failed with an `error`, else completed."""
    failure = None if error is None else failure_of(error)
    shown: Any = None if failure is None else shown_failure(failure)
    if failure is None:
        shown = output if _is_parts(output) else output_and_result(output)[0]
    elif isinstance(output, str):
        shown = output
    try:
        return ToolSettled(
            call_id=call_id,
            outcome="completed" if failure is None else "failed",
            output=shown,
            error=failure,
            settled_by=settled_by,
            evidence=evidence,
        )
    except ValidationError as wrong:
        raise rejection(wrong) from None


def not_done(call_id: str) -> ToolSettled:
    """Return that a verifier found the effect not to have happened."""
    failure = ToolFailure(message="it did not happen", code=NOT_DONE_CODE, retryable=True)
    return settled(call_id, error=failure, settled_by="verifier")


def arguments_text_of(arguments: Any) -> str:
    """Return arguments as JSON text; text is taken for JSON as it is. Raises AppendRejected."""
    return arguments if isinstance(arguments, str) else encode(arguments).decode()
