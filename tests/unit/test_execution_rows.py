"""The read model `execution`: the rows that handoffs, approvals, questions and leases come to."""

from __future__ import annotations

from typing import Any

import pytest

from agentjournal import (
    ApprovalDenied,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRequested,
    Event,
    HandoffAccepted,
    HandoffCompleted,
    HandoffFailed,
    HandoffRequested,
    InputProvided,
    InputRequested,
    LeaseAcquired,
    LeaseReleased,
    LeaseRenewed,
)
from agentjournal.events import Failure
from projections.execution import EXECUTION
from projections.rows import Row
from tests.unit.folded_rows import at, rows_of


def only(table: str, *events: Event) -> Row:
    [row] = rows_of(EXECUTION, *events)[table]
    return row


def handed(**more: Any) -> HandoffRequested:
    fields: dict[str, Any] = {"mode": "delegate", "to_agent": "helper", "task": "look\0", **more}
    return HandoffRequested(handoff_id="h", **fields)


def asked(**more: Any) -> ApprovalRequested:
    return ApprovalRequested(approval_id="a", question="may I?", **more)


def test_a_handoff_goes_from_requested_over_accepted_to_its_end() -> None:
    completed = HandoffCompleted(handoff_id="h", summary="done")
    row = only(
        "handoffs", handed(child_session_id="s-2"), HandoffAccepted(handoff_id="h"), completed
    )
    assert row == {
        "handoff_id": "h",
        "version": 1,
        "requested_version": 1,
        "requested_at": at(0),
        "mode": "delegate",
        "to_agent": "helper",
        "child_session_id": "s-2",
        "task": "look\u2400",
        "accepted_version": 2,
        "accepted_at": at(1),
        "outcome": "completed",
        "ended_version": 3,
        "ended_at": at(2),
        "summary": "done",
    }


def test_the_first_end_of_a_handoff_stands_whole() -> None:
    failed = HandoffFailed(handoff_id="h", error=Failure(type="timeout", message="late"))
    completed = HandoffCompleted(handoff_id="h", summary="done after all")
    row = only("handoffs", handed(), failed, completed)
    assert (row["outcome"], row["error_type"], row["error_message"]) == (
        *("failed", "timeout"),
        "late",
    )
    assert (row["ended_version"], "summary" in row) == (2, False)


def test_of_two_requests_under_one_id_the_first_stands_whole() -> None:
    row = only("handoffs", handed(), handed(child_session_id="s-2", mode="transfer"))
    assert (row["child_session_id"], row["mode"], row["requested_version"]) == ("", "delegate", 1)
    later = asked(call_id="c", expires_at="2026-02-01T00:00:00Z", requested_of="boss")
    row = only("approvals", asked(), later)
    assert (row["call_id"], row["requested_of"]) == ("", "")
    assert row["expires_at"] == "9999-12-31T00:00:00Z"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            ApprovalGranted(approval_id="a", by="u", comment="ok\0", edited_arguments_text="{}"),
            {
                "outcome": "granted",
                "answered_by": "u",
                "comment": "ok\u2400",
                "edited_arguments_text": "{}",
            },
        ),
        (ApprovalDenied(approval_id="a", by="u"), {"outcome": "denied", "answered_by": "u"}),
        (ApprovalExpired(approval_id="a"), {"outcome": "expired"}),
    ],
)
def test_an_approval_has_one_answer_the_first(answer: Event, expected: Row) -> None:
    late = ApprovalGranted(approval_id="a", by="other", comment="late")
    request = asked(call_id="c", arguments_digest="d", expires_at="2026-02-01T00:00:00Z")
    row = only("approvals", request, answer, late)
    assert row == {
        "approval_id": "a",
        "version": 1,
        "requested_version": 1,
        "requested_at": at(0),
        "question": "may I?",
        "call_id": "c",
        "arguments_digest": "d",
        "requested_of": "",
        "expires_at": "2026-02-01T00:00:00Z",
        "answered_version": 2,
        "answered_at": at(1),
        **expected,
    }


def test_a_question_has_one_answer_the_first() -> None:
    question = InputRequested(input_id="i", question="which?")
    answers = [InputProvided(input_id="i", by=by, value=by) for by in ("one", "two")]
    row = only("inputs", question, *answers)
    assert (row["question"], row["answered_by"], row["answered_version"]) == ("which?", "one", 2)
    assert (row["requested_at"], row["answered_at"]) == (at(0), at(1))


def test_a_lease_is_a_row_until_it_is_released() -> None:
    row = only(
        "leases",
        LeaseAcquired(holder="w", fence=1, lease_s=60),
        LeaseRenewed(fence=1),
        LeaseRenewed(fence=1),
        LeaseReleased(fence=1),
    )
    assert row == {
        "fence": 1,
        "version": 1,
        "holder": "w",
        "lease_s": 60.0,
        "acquired_at": at(0),
        "renewals": 2,
        "renewed_at": at(2),
        "extended_at": at(3),
        "released_version": 4,
        "released_at": at(3),
    }
