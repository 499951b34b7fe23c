"""Whether a call may run: what was asked, what was answered, and for which arguments it holds."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isfinite
from typing import Any, TypeAlias

from pydantic import ValidationError

from agentjournal.calls import arguments_text_of
from agentjournal.codec import decode, encode
from agentjournal.digests import arguments_digest
from agentjournal.errors import AppendRejected
from agentjournal.events import (
    ApprovalExpired,
    ApprovalRequested,
    Event,
    InputRequested,
    ToolFailure,
)
from agentjournal.events.decode import rejection
from agentjournal.execution_state import Approval
from agentjournal.state import SessionState
from agentjournal.stored import written_time
from agentjournal.tool_calls import REDACTED_ARGUMENTS, ToolCall
from agentjournal.turns import waiting


@dataclass(frozen=True, slots=True)
class Ask:
    """What somebody is asked, of whom, and how long there is to answer."""

    question: str
    expires_in_s: float | None = None
    requested_of: str | None = None
    choices: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class MustAsk:
    """Somebody must be asked first."""

    event: ApprovalRequested


@dataclass(frozen=True, slots=True)
class Wait:
    """Somebody was asked, and has not answered."""

    approval: Approval


@dataclass(frozen=True, slots=True)
class Lapsed:
    """Nobody answered in time: that is to be recorded, and then it is denied."""

    approval: Approval


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

Verdict: TypeAlias = MustAsk | Wait | Lapsed | Allowed | Denied


def approval_id_of(call_id: str, digest: str) -> str:
    """Return the id of the approval of a call with these arguments: asking twice is one."""
    return _id_of(call_id, digest)


def _id_of(*what: str) -> str:
    return hashlib.sha256("\0".join(what).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def verdict(state: SessionState, call: ToolCall, ask: Ask, now: datetime) -> Verdict:
    """Return whether a call that needs an approval may run.

    A grant holds for the arguments that were asked about, or for the edited ones that it names.
    """
    digest = arguments_digest(call.tool, call.arguments)
    of_call = (each for each in state.approvals.values() if each.call_id == call.call_id)
    held = next((each for each in of_call if digest in _digests(call.tool, each)), None)
    if held is None:
        return MustAsk(request_of(ask, now, call_id=call.call_id, digest=digest))
    if held.outcome == "granted":
        return _granted(call, held)
    if held.outcome == "open":
        return Lapsed(held) if is_over(held, now) else Wait(held)
    said = held.comment or (LAPSED if held.outcome == "expired" else "denied")
    return Denied(ToolFailure(type="denied", message=said, code=f"approval_{held.outcome}"))


def request_of(
    ask: Ask,
    now: datetime,
    *,
    approval_id: str | None = None,
    call_id: str | None = None,
    digest: str | None = None,
    expires_at: datetime | str | None = None,
) -> ApprovalRequested:
    """Return the event that asks; its id is made of what is asked, unless one is given.

    Raises AppendRejected when something cannot be recorded.
    """
    if call_id is not None and digest is not None:
        derived = approval_id_of(call_id, digest)
    else:
        derived = _id_of("question", ask.question, call_id or "", digest or "")
    try:
        return ApprovalRequested(
            approval_id=derived if approval_id is None else approval_id,
            question=ask.question,
            call_id=call_id,
            arguments_digest=digest,
            choices=None if ask.choices is None else list(ask.choices),
            expires_at=moment_of("expires", now, ask.expires_in_s, expires_at),
            requested_of=ask.requested_of,
        )
    except ValidationError as error:
        raise rejection(error) from None


def moment_of(
    name: str, now: datetime, in_s: float | None, at: datetime | str | None
) -> str | None:
    """Return a moment that is given as seconds from now, or as itself; None when neither is.

    Raises AppendRejected, with the name of the argument, when it is none.
    """
    if in_s is not None and at is not None:
        raise AppendRejected(f"{name}_at", f"is given beside {name}_in_s")
    if isinstance(at, datetime):
        if at.utcoffset() is None:
            raise AppendRejected(f"{name}_at", "has no zone")
        return written_time(at)
    if in_s is None:
        return at
    if not (isfinite(in_s) and in_s > 0):
        raise AppendRejected(f"{name}_in_s", f"is {in_s}, not a time that is to come")
    try:
        return written_time(now + timedelta(seconds=in_s))
    except OverflowError:
        raise AppendRejected(f"{name}_in_s", "is beyond the year 9999") from None


def input_of(question: str, schema: Any, input_id: str | None) -> InputRequested:
    """Return the event that asks a question; its id is made of it, unless one is given.

    Raises AppendRejected when something cannot be recorded.
    """
    given = None if schema is None else encode(schema).decode()
    try:
        return InputRequested(
            input_id=_id_of("input", question, given or "") if input_id is None else input_id,
            question=question,
            schema=schema,
        )
    except ValidationError as error:
        raise rejection(error) from None


def asking(state: SessionState, event: ApprovalRequested | InputRequested) -> list[Event]:
    """Return what asks in a session, and ends its turn to wait; nothing once it is answered.

    Asking again is waiting again.
    """
    if isinstance(event, ApprovalRequested):
        approval = state.approvals.get(event.approval_id)
        is_asked, is_open = approval is not None, approval is None or approval.outcome == "open"
    else:
        question = state.questions.get(event.input_id)
        is_asked, is_open = question is not None, not getattr(question, "answered_version", None)
    if not is_open:
        return []
    return [*([] if is_asked else [event]), *waiting(state)]


def lapsed(state: SessionState, now: datetime) -> list[Event]:
    """Return that the approvals whose time has passed have expired."""
    return [
        ApprovalExpired(approval_id=each.approval_id)
        for each in state.approvals.values()
        if each.outcome == "open" and is_over(each, now)
    ]


def is_over(approval: Approval, now: datetime) -> bool:
    """Whether the time to answer has passed."""
    return approval.expires_at is not None and datetime.fromisoformat(approval.expires_at) <= now


def is_allowed(state: SessionState, tool: str, arguments: Any) -> bool:
    """Whether somebody granted a call of `tool` with exactly these arguments."""
    digest = arguments_digest(tool, arguments)
    granted = (each for each in state.approvals.values() if each.outcome == "granted")
    return any(digest == _granted_digest(tool, each) for each in granted)


def _granted_digest(tool: str, approval: Approval) -> str | None:
    """Return the digest of the arguments that a grant is for: the edited ones, if there are."""
    edited = approval.edited_arguments_text
    if edited is None or approval.arguments_digest is None:
        return approval.arguments_digest
    try:
        return arguments_digest(tool, decode(edited.encode()))
    except ValueError:
        return None


def _digests(tool: str, approval: Approval) -> set[str | None]:
    """Return the digests of the arguments that an approval is about."""
    return {approval.arguments_digest, _granted_digest(tool, approval)}


def _granted(call: ToolCall, held: Approval) -> Allowed | Denied:
    edited = held.edited_arguments_text
    if edited is None:
        return Allowed(call.arguments_text, held.approval_id)
    if held.is_redacted:
        return Denied(REDACTED_ARGUMENTS)
    try:
        decode(edited.encode())
    except ValueError:
        return Denied(
            ToolFailure(type="invalid_arguments", message="the edited arguments are no JSON")
        )
    return Allowed(edited, held.approval_id)


def digest_of_call(
    state: SessionState, call_id: str | None, tool: str | None, arguments: Any
) -> str | None:
    """Return the digest of the arguments that are asked about, None when it is about none.

    Raises AppendRejected when there are arguments of no tool, or the call's are no JSON.
    """
    if tool is not None:
        given = decode(json_text(arguments).encode()) if isinstance(arguments, str) else arguments
        return arguments_digest(tool, given)
    if arguments is not None:
        raise AppendRejected("arguments", "are given without the tool that they are for")
    held = None if call_id is None else state.calls.get(call_id)
    if held is None:
        return None
    try:
        return arguments_digest(held.tool, held.arguments)
    except ValueError:
        raise AppendRejected("call_id", "is of a call whose arguments are no JSON") from None


def moment(state: SessionState, now: datetime) -> datetime:
    """Return the time: never earlier than the broker's when it recorded what was last read."""
    if state.last is None:
        return now
    return max(now, datetime.fromisoformat(state.last.recorded_at))


def json_text(arguments: Any) -> str:
    """Return arguments as JSON text. Raises AppendRejected when text is none."""
    text = arguments_text_of(arguments)
    try:
        decode(text.encode())
    except ValueError:
        raise AppendRejected("arguments", "are no JSON") from None
    return text
