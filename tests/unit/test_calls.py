"""Attempts of a call: which number, which group, and under which key."""

from __future__ import annotations

import pytest

from agentjournal import ToolFailure
from agentjournal.calls import Call, again, call_key
from agentjournal.ids import Version, stream_id
from agentjournal.tool_calls import ToolCall

STREAM = stream_id("session", "t", "s")
OTHERS = "a key that another program made"


def call() -> Call:
    return Call(STREAM, "pay", "{}", call_id="c", effect="external", lease_s=60)


def held(outcome: str, attempt: int, code: str | None = None, group: int = 1) -> ToolCall:
    error = None if outcome != "failed" else ToolFailure(message="no", code=code)
    return ToolCall(
        "c",
        "pay",
        "{}",
        Version(1),
        outcome,  # type: ignore[arg-type]
        attempt,
        idempotency_key=OTHERS if attempt else None,
        error=error,
        group=group,
    )


@pytest.mark.parametrize(
    ("before", "attempt", "key"),
    [
        (held("open", 0), 1, call_key(STREAM, "c", 1)),
        (held("open", 1), 2, OTHERS),  # unknown: the outside system may know it by its key
        (held("failed", 1, "not_done"), 2, OTHERS),  # whoever was stopped may still fire
        (held("failed", 1), 2, call_key(STREAM, "c", 2)),
        (held("failed", 4, group=3), 5, call_key(STREAM, "c", 4)),
    ],
)
def test_only_a_recorded_failure_gets_another_key(before: ToolCall, attempt: int, key: str) -> None:
    following = again(before, call())
    assert (following.attempt, following.idempotency_key) == (attempt, key)
