"""conversation: sessions, their turns, messages, tool calls and model calls.

Reads `data` as decoded values, field by field: what an event does not say changes nothing, and a
type it does not know changes only how far the session is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from agentjournal.envelope import Recorded
from agentjournal.stored import later
from projections.columns import parsed_stream, session_row
from projections.conversation_tables import (
    MESSAGES,
    MODEL_CALLS,
    SESSIONS,
    TOOL_CALLS,
    TURNS,
)
from projections.conversation_work import LOOKS, WORK
from projections.plain_text import plain_text, storable
from projections.projection import Context, Projection, read_sql
from projections.rows import Changes, Row

Apply: TypeAlias = Callable[[Recorded, Any, Context, Changes], Context]


def fold(recorded: Recorded, context: Context, changes: Changes) -> Context:
    """Add the event's changes, and move its session on."""
    apply, look = _APPLY.get(recorded.type), LOOKS.get(recorded.type)
    data = None if apply is None and look is None else recorded.data
    if look is not None:
        context = look(recorded, data, context, changes)
    if apply is not None:
        context = apply(recorded, data, context, changes)
    stream, turn_id = recorded.stream, context.turn_id
    _, tenant, session_id = parsed_stream(stream)
    changes.add_last("sessions", stream, _place, recorded, tenant, session_id, turn_id)
    remaining, is_expired = context.remaining, context.is_expired
    return Context(recorded.version, recorded.hash, turn_id, remaining, is_expired)


def _place(recorded: Recorded, tenant: str, session_id: str, turn_id: str | None) -> Row:
    return {
        "stream": recorded.stream,
        "tenant": tenant,
        "session_id": session_id,
        "partition": recorded.partition,
        "version": recorded.version,
        "head_hash": bytes.fromhex(recorded.hash),
        "last_activity_at": recorded.recorded_at,
        # What is open now, or "" for none: None would say that nothing changed.
        "turn_id": turn_id or "",
    }


def _session(recorded: Recorded, changes: Changes, **columns: Any) -> None:
    _, tenant, session_id = parsed_stream(recorded.stream)
    place = {"stream": recorded.stream, "tenant": tenant, "session_id": session_id}
    changes.add("sessions", {**place, "partition": recorded.partition, **columns})


def _started(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    parent = data.get("parent") or {}
    _session(
        r,
        changes,
        user_id=storable(data.get("user")),
        agent=storable(data.get("agent")),
        title=storable(data.get("title")),
        task_id=storable(data.get("task_id")),
        parent_session_id=storable(parent.get("session_id")),
        started_at=r.recorded_at,
        status="open",
        ttl_s=_number(data.get("ttl_s")),
    )
    return context


def _updated(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    title, ttl_s = storable(data.get("title")), _number(data.get("ttl_s"))
    _session(r, changes, title=title, ttl_s=ttl_s)
    return context


def _number(said: float | None) -> float | None:
    # Whole and broken numbers in one column cannot be sent as one array.
    return None if said is None else float(said)


def _status(status: str) -> Apply:
    def apply(r: Recorded, _: Any, context: Context, changes: Changes) -> Context:
        _session(r, changes, status=status)
        return context

    return apply


def _turn_started(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    turn_id = storable(data["turn_id"])
    row = session_row(r, turn_id=turn_id, trigger=data["trigger"], started_at=r.recorded_at)
    changes.add("turns", row)
    return context._replace(turn_id=turn_id)


def _turn_ended(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    turn_id = storable(data["turn_id"])
    changes.add(
        "turns",
        session_row(
            r,
            turn_id=turn_id,
            reason=data["reason"],
            ended_at=r.recorded_at,
            resume_at=data.get("resume_at"),
        ),
    )
    return context._replace(turn_id=None if context.turn_id == turn_id else context.turn_id)


def _message(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    parts = data.get("parts") or []
    _session(r, changes, messages=1)
    changes.add(
        "messages",
        session_row(
            r,
            message_id=storable(data["message_id"]),
            turn_id=context.turn_id,
            role=data["role"],
            content=storable(plain_text(parts)),
            tokens=r.tokens,
            status=data.get("status") or "complete",
            model_call_id=storable(data.get("model_call_id")),
            recorded_at=r.recorded_at,
        ),
    )
    for part in parts:
        if isinstance(part, dict) and part.get("type") == "tool_call":
            call = {
                "call_id": storable(part["call_id"]),
                "turn_id": context.turn_id,
                "tool": storable(part["name"]),
                "arguments_text": storable(part["arguments_text"]),
                "requested_at": r.recorded_at,
            }
            changes.add("tool_calls", session_row(r, **call))
    return context


def _retracted(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    changes.add(
        "messages", session_row(r, message_id=storable(data["message_id"]), status="retracted")
    )
    return context


def _tool_started(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    changes.add(
        "tool_calls",
        session_row(
            r,
            call_id=storable(data["call_id"]),
            turn_id=context.turn_id,
            tool=storable(data["tool"]),
            arguments_text=storable(data["arguments_text"]),
            effect=data["effect"],
            attempt=data["attempt"],
            idempotency_key=storable(data["idempotency_key"]),
            started_at=r.recorded_at,
            lease_until=later(r.recorded_at, data["lease_s"]),
            fence=r.fence or 0,  # None would let another start of the attempt say it
        ),
    )
    return context


def _outcome(outcome: str | None) -> Apply:
    def apply(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
        error = data.get("error") or {}
        output = data.get("output")
        text = plain_text(output) if isinstance(output, list) else output
        row = session_row(
            r,
            call_id=storable(data["call_id"]),
            turn_id=context.turn_id,
            outcome=outcome or data["outcome"],
            ended_at=r.recorded_at,
            duration_ms=_number(data.get("duration_ms")),
            error_type=error.get("type"),
            error_message=storable(error.get("message")),
            output=storable(text),
        )
        if "attempt" in data:
            row["attempt"] = data["attempt"]
        changes.add("tool_calls", row)
        return context

    return apply


def _model_called(r: Recorded, data: Any, context: Context, changes: Changes) -> Context:
    cost = data.get("cost") or {}
    row = session_row(
        r,
        model_call_id=storable(data["model_call_id"]),
        turn_id=context.turn_id,
        provider=storable(data["provider"]),
        request_model=storable(data["request_model"]),
        response_model=storable(data.get("response_model")),
        input_tokens=data["input_tokens"],
        output_tokens=data["output_tokens"],
        cost=None if "amount" not in cost else Decimal(cost["amount"]),
        currency=cost.get("currency"),
        duration_ms=_number(data["duration_ms"]),
        finish_reason=storable(data.get("finish_reason")),
        status=data["status"],
        recorded_at=r.recorded_at,
    )
    changes.add("model_calls", row)
    sums = {name: row[name] for name in ("input_tokens", "output_tokens", "cost")}
    _session(r, changes, **sums)
    return context


_APPLY: Mapping[str, Apply] = {
    "session.started": _started,
    "session.updated": _updated,
    "session.ended": _status("ended"),
    "session.expired": _status("expired"),
    "session.resumed": _status("open"),
    "session.deleted": _status("deleted"),
    "turn.started": _turn_started,
    "turn.ended": _turn_ended,
    "message.added": _message,
    "message.retracted": _retracted,
    "tool.started": _tool_started,
    "tool.completed": _outcome("completed"),
    "tool.failed": _outcome("failed"),
    "tool.settled": _outcome(None),
    "model.called": _model_called,
}

CONVERSATION = Projection(
    name="conversation",
    tables=(SESSIONS, TURNS, MESSAGES, TOOL_CALLS, MODEL_CALLS, WORK),
    fold=fold,
    kinds=frozenset({"session"}),
    types=dict.fromkeys((*_APPLY, *LOOKS), 1),
    sql=read_sql("conversation.sql"),
)
