"""Which calls are to be run or tried again, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from agentjournal.events import Retry
from agentjournal.state import SessionState
from agentjournal.tool_calls import NOT_DONE_CODE, UNKNOWN_CODE, ToolCall, next_group
from agentjournal.tools import Tool
from agentjournal.turns import asked_for


def to_do(
    state: SessionState, unknown: Sequence[ToolCall], tools: Mapping[str, Tool]
) -> list[ToolCall]:
    """Return the calls that are asked for, `unknown`, or failed and to be tried again."""
    asked = asked_for(state)
    names = {call.call_id for call in (*asked, *unknown)}
    # Killed behind the verifier's answer: it would be tried again now.
    not_done = [c for c in state.calls.values() if is_not_done(c) and c.call_id not in names]
    to_begin = [call for call in asked if call.outcome == "open" and not call.attempt]
    to_repeat = [call for call in asked if _is_to_repeat(call, tools)]
    return [*unknown, *not_done, *to_begin, *to_repeat]


def _is_to_repeat(call: ToolCall, tools: Mapping[str, Tool]) -> bool:
    if is_not_done(call):
        return True
    return call.tool in tools and retry_wait(tools[call.tool].retry, call) is not None


def retry_wait(retry: Retry | None, call: ToolCall) -> float | None:
    """Return how many seconds to wait before a failed call is tried again; None: it is not."""
    if retry is None or call.outcome != "failed" or call.error is None or not call.attempt:
        return None
    # What was refused without having been run would be refused again.
    if call.error.type in _REFUSED or call.error.code == UNKNOWN_CODE:
        return None
    failures = next_group(call) - 1
    if failures >= retry.max_attempts:
        return None
    if retry.on and call.error.type not in retry.on and call.error.code not in retry.on:
        return None
    waits = retry.backoff_s or [0]
    return float(waits[min(failures, len(waits)) - 1])


_REFUSED = frozenset({"denied", "invalid_arguments"})


def is_not_done(call: ToolCall) -> bool:
    """Whether a verifier found that the call's effect did not happen."""
    is_failed = call.outcome == "failed" and call.error is not None
    return is_failed and call.error is not None and call.error.code == NOT_DONE_CODE


def uncertain_s(state: SessionState, call: ToolCall, held_s: float) -> float:
    """Return for how many seconds a worker that was stopped in the middle of a call may still fire.

    That is the call's own time after the lease ended under which it was begun. `held_s` is for how
    long the session's lease is held, at least.
    """
    lease = state.lease
    if lease is None:
        return 0.0
    taken = datetime.fromisoformat(lease.acquired_at)
    over = taken if call.started_at is None else datetime.fromisoformat(call.started_at)
    if (call.started_version or 0) < lease.fence:
        quiet_since = datetime.fromisoformat(lease.quiet_since)
        over = min(taken, quiet_since + timedelta(seconds=lease.previous_s))
    certain = over + timedelta(seconds=call.lease_s or 0)
    return max(0.0, (certain - taken).total_seconds() - held_s)
