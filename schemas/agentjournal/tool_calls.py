"""Tool calls and what they come to: of an attempt the first outcome counts, a success for ever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agentjournal.codec import decode
from agentjournal.events import ToolCompleted, ToolFailed, ToolFailure, ToolSettled, ToolStarted
from agentjournal.events.wire import is_redacted
from agentjournal.ids import Version
from agentjournal.stored import Foldable

if TYPE_CHECKING:
    from agentjournal.state import SessionState

CallOutcome: TypeAlias = Literal["open", "completed", "failed"]


# What a verifier found not to have happened is tried again under the same key: the worker that was
# stopped may still fire.
NOT_DONE_CODE = "not_done"
# What was given up without anybody knowing is never tried again under another key.
UNKNOWN_CODE = "outcome_unknown"
# Of a call whose arguments the log does not have as they were: it cannot be run from the log.
REDACTED_ARGUMENTS = ToolFailure(
    type="invalid_arguments",
    message="its arguments held a secret, which was not recorded: only the process that had them "
    "could run it. Ask again, with the name of the secret in place of it",
    code="redacted",
)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call, from the model's request or a worker's start to its outcome."""

    call_id: str
    tool: str
    arguments_text: str  # the model's argument string, byte for byte
    version: Version  # of the event that first named it
    outcome: CallOutcome = "open"
    attempt: int = 0  # 0: asked for, not started
    effect: str | None = None
    idempotency_key: str | None = None
    output: str | Sequence[Any] | None = None  # text, or parts
    result: Any = None
    error: ToolFailure | None = None
    started_version: Version | None = None
    ended_version: Version | None = None
    group: int = 1  # a recorded failure begins the next group of attempts, and a new key
    lease_s: float | None = None  # after it the outcome of an open one is unknown
    started_at: str | None = None  # the broker's clock
    is_redacted: bool = False  # whether the log does not have all of its arguments

    @property
    def is_inherited(self) -> bool:
        """Whether all that is known of it is from before a fork: it is the parent's to finish."""
        return self.version <= 0 and (self.started_version or 0) <= 0

    @property
    def arguments(self) -> Any:
        """The parsed arguments. Raises ValueError when the model wrote no JSON."""
        return decode(self.arguments_text.encode())


def begin_call(state: SessionState, event: ToolStarted, recorded: Foldable) -> None:
    """Begin an attempt, unless a later one has begun, or the call is completed."""
    held = state.calls.get(event.call_id)
    if held is None or (event.attempt > held.attempt and held.outcome != "completed"):
        state.calls[event.call_id] = ToolCall(
            event.call_id,
            event.tool,
            event.arguments_text,
            recorded.version if held is None else held.version,
            "open",
            event.attempt,
            event.effect,
            event.idempotency_key,
            started_version=recorded.version,
            group=1 if held is None else next_group(held),
            lease_s=event.lease_s,
            started_at=recorded.recorded_at,
            is_redacted=is_redacted(event, "arguments_text"),
        )


def next_group(call: ToolCall) -> int:
    """Return the group that the next attempt of a call belongs to."""
    failed = call.outcome == "failed" and call.attempt > 0
    is_not_done = call.error is not None and call.error.code == NOT_DONE_CODE
    return call.group + (failed and not is_not_done)


def end_call(state: SessionState, event: ToolCompleted | ToolFailed, recorded: Foldable) -> None:
    """Take the outcome of an attempt, unless a later one has begun."""
    held = state.calls.get(event.call_id)
    if held is None or event.attempt >= held.attempt:
        _settle(state, held, event.attempt, event, recorded.version)


def settle_call(state: SessionState, event: ToolSettled, recorded: Foldable) -> None:
    """Take the outcome of the last attempt."""
    state.answered_version = recorded.version
    held = state.calls.get(event.call_id)
    attempt = 0 if held is None else held.attempt
    _settle(state, held, attempt, event, recorded.version)


def _settle(
    state: SessionState,
    held: ToolCall | None,
    attempt: int,
    event: ToolCompleted | ToolFailed | ToolSettled,
    version: Version,
) -> None:
    """The first outcome of an attempt counts; behind a completed one no attempt comes."""
    if held is None:
        held = ToolCall(event.call_id, "", "", version)
    elif held.outcome == "completed" or (held.outcome != "open" and held.attempt == attempt):
        return
    outcome: CallOutcome = "completed" if isinstance(event, ToolCompleted) else "failed"
    if isinstance(event, ToolSettled):
        outcome = event.outcome
    state.calls[held.call_id] = ToolCall(  # as `replace` would: there are many of them
        held.call_id,
        held.tool,
        held.arguments_text,
        held.version,
        outcome,
        attempt,
        held.effect,
        held.idempotency_key,
        event.output,
        event.result if isinstance(event, ToolCompleted) else None,
        None if isinstance(event, ToolCompleted) else event.error,
        held.started_version,
        version,
        held.group,
        held.lease_s,
        held.started_at,
        held.is_redacted,
    )
