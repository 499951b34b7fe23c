"""Rows of tool calls: asked for, started, ended, and what comes too late."""

from __future__ import annotations

from datetime import timedelta

from agentjournal import (
    TextPart,
    ToolFailure,
    ToolSettled,
)
from tests.unit.conversation_events import (
    BEGAN,
    asking,
    at,
    only,
    rows_of,
    tool_completed,
    tool_failed,
    tool_started,
)


def test_a_call_is_there_once_the_model_asks_for_it() -> None:
    asked, other = rows_of(asking("c-1", "c-2"))["tool_calls"]
    assert asked == {
        "call_id": "c-1",
        "version": 1,
        "tool": "refund",
        "arguments_text": '{"o":1}',
        "requested_at": at(0),
    }
    assert other["call_id"] == "c-2"


def test_a_call_goes_from_asked_over_started_to_its_outcome() -> None:
    row = only("tool_calls", asking("c-1"), tool_started(), tool_completed())
    assert row == {
        "call_id": "c-1",
        "version": 1,
        "tool": "refund",
        "arguments_text": '{"o":1}',
        "requested_at": at(0),
        "attempt": 1,
        "effect": "external",
        "idempotency_key": "k-1",
        "started_at": at(1),
        "lease_until": BEGAN + timedelta(seconds=61.5),
        "fence": 0,
        "outcome": "completed",
        "ended_at": at(2),
        "duration_ms": 12.5,
        "output": "done",
    }


def test_a_failure_says_what_failed() -> None:
    row = only("tool_calls", tool_started(), tool_failed())
    assert (row["outcome"], row["error_type"]) == ("failed", "timeout")
    assert row["error_message"] == "too late\u2400"


def test_a_new_attempt_opens_the_call_again() -> None:
    row = only("tool_calls", tool_started(), tool_failed(), tool_started(2))
    assert (row["attempt"], row["idempotency_key"], row["started_at"]) == (2, "k-2", at(2))
    assert not {"outcome", "error_type", "ended_at", "output"} & set(row)
    again = [tool_started(), tool_failed(), tool_started(2), tool_completed(2)]
    assert only("tool_calls", *again)["outcome"] == "completed"


def test_an_outcome_of_an_earlier_attempt_comes_too_late() -> None:
    row = only("tool_calls", tool_started(), tool_started(2), tool_completed(1))
    assert (row["attempt"], "outcome" in row) == (2, False)


def test_the_first_outcome_of_an_attempt_stands() -> None:
    row = only("tool_calls", tool_started(), tool_completed(), tool_failed())
    assert (row["outcome"], "error_type" in row) == ("completed", False)


def test_what_a_verifier_settles_is_the_current_attempt_s() -> None:
    settled = ToolSettled(
        call_id="c-1", outcome="completed", output="was done", settled_by="verifier"
    )
    row = only("tool_calls", tool_started(), tool_started(2), settled)
    assert (row["attempt"], row["outcome"], row["output"]) == (2, "completed", "was done")
    assert only("tool_calls", tool_started(), tool_completed(), settled)["output"] == "done"


def test_a_call_that_was_settled_and_is_tried_again_is_open() -> None:
    error = ToolFailure(type="error", message="not done", retryable=True)
    settled = ToolSettled(call_id="c-1", outcome="failed", error=error, settled_by="verifier")
    row = only("tool_calls", tool_started(), settled, tool_started(2))
    assert (row["attempt"], "outcome" in row, "error_type" in row) == (2, False, False)


def test_output_in_parts_is_shown_as_text() -> None:
    output = [TextPart(text="one"), TextPart(text="two")]
    row = only("tool_calls", tool_started(), tool_completed(output=output))
    assert row["output"] == "one\ntwo"


def test_a_lease_beyond_all_calendars_does_not_pass() -> None:
    endless = tool_started().model_copy(update={"lease_s": 1e18})
    assert "lease_until" not in only("tool_calls", endless)
