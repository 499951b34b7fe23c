"""Sessions as they were left, and what they need a worker for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentjournal import (
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRequested,
    ConversationRewound,
    Event,
    HandoffAccepted,
    HandoffCompleted,
    HandoffRequested,
    InputProvided,
    InputRequested,
    MessageAdded,
    MessageRetracted,
    PlanAbandoned,
    PlanCreated,
    PlannedStep,
    SessionEnded,
    StepFailed,
    StepSkipped,
    StepStarted,
    ToolSettled,
    TurnEnded,
    TurnStarted,
)
from agentjournal.events import Failure

PAST, FUTURE = "2026-01-01T00:00:00Z", "2999-01-01T00:00:00Z"


def said(role: Any = "user", name: str = "m") -> MessageAdded:
    return MessageAdded(role=role, content="hello", message_id=f"{role}-{name}")


def turn(*versions: int, turn_id: str = "t") -> TurnStarted:
    return TurnStarted(turn_id=turn_id, trigger="user", input_versions=list(versions))


def ended(reason: Any = "completed", *, turn_id: str = "t", **more: Any) -> TurnEnded:
    return TurnEnded(turn_id=turn_id, reason=reason, **more)


def handed(mode: Any, to_agent: str = "other", **more: Any) -> HandoffRequested:
    return HandoffRequested(handoff_id="h", mode=mode, to_agent=to_agent, task="do it", **more)


def asked(approval_id: str = "a", **more: Any) -> ApprovalRequested:
    return ApprovalRequested(approval_id=approval_id, question="may I?", **more)


WAITING = [said(), turn(2), asked(), ended("waiting")]  # versions 2 to 5
STEPS = [PlannedStep(step_id=name, title=name) for name in ("a", "b")]


def failed(retry_at: str | None, step_id: str = "a", attempt: int = 1) -> StepFailed:
    error = Failure(message="no")
    return StepFailed(plan_id="p", step_id=step_id, error=error, retry_at=retry_at, attempt=attempt)


PLANNED = PlanCreated(plan_id="p", goal="g", steps=STEPS)
CASES: dict[str, tuple[Sequence[Event], tuple[str, int] | None]] = {
    "nothing was said": ([said("system")], None),
    "a message": ([said()], ("message", 2)),
    "a message that was answered under no lease": ([said(), said("assistant")], None),
    "a turn that is open": ([said(), turn(2)], ("turn", 3)),
    "a turn that ended": ([said(), turn(2), ended()], None),
    "a message while the turn was on": (
        [said(), turn(2), said(name="n"), ended()],
        ("message", 4),
    ),
    "the turn comes before the message": ([said(), turn(2), said(name="n")], ("turn", 3)),
    "a message that was retracted": (
        [said(), MessageRetracted(message_id="user-m", reason="r")],
        None,
    ),
    "a session that ended": ([said(), SessionEnded()], None),
    "waiting for an approval": (WAITING, None),
    "an approval": ([*WAITING, ApprovalGranted(approval_id="a", by="u")], ("approval", 6)),
    "an approval that nobody waits for": (
        [said(), turn(2), asked(), ended(), ApprovalGranted(approval_id="a", by="u")],
        None,
    ),
    "an answer that nobody asked for": (
        [said(), turn(2), ended("waiting"), ApprovalGranted(approval_id="a", by="u")],
        None,
    ),
    "a second answer is none": (
        [
            *(said(), turn(2), asked(), ApprovalGranted(approval_id="a", by="u")),
            *(ended("waiting"), ApprovalExpired(approval_id="a")),
        ],
        None,
    ),
    "an approval that expired by itself": (
        [said(), turn(2), asked(expires_at=PAST), ended("waiting")],
        ("approval", 4),
    ),
    "an approval that expires": (
        [said(), turn(2), asked(expires_at=FUTURE), ended("waiting")],
        None,
    ),
    "an answer": (
        [
            *(said(), turn(2), InputRequested(input_id="i", question="q"), ended("waiting")),
            InputProvided(input_id="i", by="u", value=1),
        ],
        ("input", 6),
    ),
    "a handoff that ended": (
        [
            *(said(), turn(2), handed("delegate"), ended("waiting")),
            HandoffCompleted(handoff_id="h", summary="done"),
        ],
        ("handoff", 6),
    ),
    "a handoff that goes on": ([said(), turn(2), handed("delegate"), ended("waiting")], None),
    "a child that was not begun": (
        [said(), turn(2), handed("delegate", child_session_id="never begun"), ended("waiting")],
        ("handoff", 4),
    ),
    "a child that nobody waits for": (
        [said(), turn(2), handed("delegate", child_session_id="never begun"), ended()],
        None,
    ),
    "a conversation that was transferred": (
        [said(), turn(2), handed("transfer"), ended()],
        ("handoff", 4),
    ),
    "a transfer that was accepted": (
        [said(), turn(2), handed("transfer"), ended(), HandoffAccepted(handoff_id="h")],
        None,
    ),
    "a call that was settled from elsewhere": (
        [
            *(said(), turn(2), ended("waiting")),
            ToolSettled(call_id="c", outcome="completed", output="x", settled_by="person"),
        ],
        ("call", 5),
    ),
    "a turn that goes on when it said": (
        [said(), turn(2), ended("limit", resume_at=PAST)],
        ("resume", 4),
    ),
    "a turn that goes on later": ([said(), turn(2), ended("waiting", resume_at=FUTURE)], None),
    "a turn that went on": (
        [said(), turn(2), ended("limit", resume_at=PAST), turn(turn_id="u"), ended(turn_id="u")],
        None,
    ),
    "a step to try again": ([PLANNED, failed(PAST)], ("retry", 3)),
    "a step to try again later": ([PLANNED, failed(FUTURE)], None),
    "a step that failed for good": ([PLANNED, failed(None)], None),
    "a step that is tried again": (
        [PLANNED, failed(PAST), StepStarted(plan_id="p", step_id="a", attempt=2, lease_s=60,
                                            idempotency_key="k")],
        None,
    ),
    "a step that is skipped": (
        [PLANNED, failed(PAST), StepSkipped(plan_id="p", step_id="a", reason="r")],
        None,
    ),
    "a step of a plan that was abandoned": (
        [PLANNED, failed(PAST), PlanAbandoned(plan_id="p", reason="r")],
        None,
    ),
    "the user's words are what is left": (
        [
            *(said(), turn(2), said("assistant"), ended()),
            ConversationRewound(to_version=2, reason="r"),
        ],
        ("message", 2),
    ),
    "the answer is what is left": (
        [
            *(said(), turn(2), said("assistant"), ended(), said(name="n")),
            ConversationRewound(to_version=5, reason="r"),
        ],
        None,
    ),
    "what was left before does not come back": (
        [
            *(said(), said("assistant"), said(name="n")),
            ConversationRewound(to_version=3, reason="r"),
            ConversationRewound(to_version=4, reason="r"),
        ],
        None,
    ),
}  # fmt: skip
