"""Which calls are to be run or tried again, and when."""

from __future__ import annotations

from collections.abc import Mapping

from agentjournal.events import Retry
from agentjournal.state import SessionState
from agentjournal.tool_calls import NOT_DONE_CODE, ToolCall, next_group
from agentjournal.tools import Tool
from agentjournal.turns import asked_for


def to_do(state: SessionState, tools: Mapping[str, Tool]) -> list[ToolCall]:
    """Return the calls that are cut off, open, or failed and to be tried again."""
    asked = asked_for(state)
    names = {call.call_id for call in asked}
    cut_off = [c for c in state.open_calls if c.attempt and c.call_id not in names]
    return [
        call
        for call in (*cut_off, *asked)
        if call.outcome == "open"
        or (call.tool in tools and retry_wait(tools[call.tool].retry, call) is not None)
    ]


def retry_wait(retry: Retry | None, call: ToolCall) -> float | None:
    """Return how many seconds to wait before a failed call is tried again; None: it is not."""
    # What was refused without having been run would be refused again.
    if retry is None or call.outcome != "failed" or call.error is None or not call.attempt:
        return None
    if call.error.type in _REFUSED and call.error.type not in retry.on:
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
    return call.error is not None and call.error.code == NOT_DONE_CODE
