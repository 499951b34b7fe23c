"""Whether a call may run: what was asked, what was answered, and for which arguments it holds."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from agentjournal.codec import decode
from agentjournal.digests import arguments_digest
from agentjournal.events import ApprovalExpired, ApprovalRequested, ToolFailure
from agentjournal.execution_state import Approval
from agentjournal.state import SessionState
from agentjournal.tool_calls import ToolCall


@dataclass(frozen=True, slots=True)
class Ask:
    """Somebody must be asked first."""

    event: ApprovalRequested


@dataclass(frozen=True, slots=True)
class Wait:
    """Somebody was asked, and has not answered."""

    approval: Approval


@dataclass(frozen=True, slots=True)
class Lapsed:
    """Nobody answered in time: that is to be recorded, and then it is denied."""

    event: ApprovalExpired


@dataclass(frozen=True, slots=True)
class Allowed:
    """The call may run, with exactly these arguments."""

    arguments_text: str
    approval_id: str


@dataclass(frozen=True, slots=True)
class Denied:
    """The call may not run."""

    failure: ToolFailure


LAPSED = "nobody answered in time"

Verdict: TypeAlias = Ask | Wait | Lapsed | Allowed | Denied


def approval_id_of(call_id: str, digest: str) -> str:
    """Return the id of the approval of a call with these arguments: asking twice is one."""
    return hashlib.sha256(f"{call_id}\0{digest}".encode()).hexdigest()[:32]


def verdict(state: SessionState, call: ToolCall, question: str, now: datetime) -> Verdict:
    """Return whether a call that needs an approval may run.

    A grant holds for the arguments that were asked about, or for the edited ones that it names.
    """
    digest = arguments_digest(call.tool, call.arguments)
    approval_id = approval_id_of(call.call_id, digest)
    of_call = (each for each in state.approvals.values() if each.call_id == call.call_id)
    held = next((each for each in of_call if digest in _digests(call.tool, each)), None)
    if held is None:
        event = ApprovalRequested(
            approval_id=approval_id,
            question=question,
            call_id=call.call_id,
            arguments_digest=digest,
        )
        return Ask(event)
    if held.outcome == "granted":
        return _granted(call, held)
    if held.outcome == "open":
        return (
            Lapsed(ApprovalExpired(approval_id=held.approval_id))
            if is_over(held, now)
            else (Wait(held))
        )
    said = held.comment or (LAPSED if held.outcome == "expired" else "denied")
    return Denied(ToolFailure(type="denied", message=said, code=f"approval_{held.outcome}"))


def is_over(approval: Approval, now: datetime) -> bool:
    """Whether the time to answer has passed."""
    return approval.expires_at is not None and datetime.fromisoformat(approval.expires_at) <= now


def _digests(tool: str, approval: Approval) -> set[str | None]:
    """Return the digests of the arguments that an approval is about."""
    digests = {approval.arguments_digest}
    if approval.edited_arguments_text is not None:
        try:
            edited = decode(approval.edited_arguments_text.encode())
        except ValueError:
            return digests
        digests.add(arguments_digest(tool, edited))
    return digests


def _granted(call: ToolCall, held: Approval) -> Allowed | Denied:
    edited = held.edited_arguments_text
    if edited is None:
        return Allowed(call.arguments_text, held.approval_id)
    try:
        decode(edited.encode())
    except ValueError:
        failure = ToolFailure(type="invalid_arguments", message="the edited arguments are no JSON")
        return Denied(failure)
    return Allowed(edited, held.approval_id)
