"""The tables of the projection `conversation`, and how changes of one row merge."""

from __future__ import annotations

from projections.rows import Table

SESSIONS = Table(
    "sessions",
    {
        "stream": "key",
        "tenant": "first",
        "session_id": "first",
        "partition": "first",
        "user_id": "first",
        "agent": "first",
        "title": "last",
        "task_id": "first",
        "parent_session_id": "first",
        "status": "last",
        "started_at": "first",
        "last_activity_at": "last",
        "version": "last",
        "head_hash": "last",
        "turn_id": "last",
        "messages": "sum",
        "input_tokens": "sum",
        "output_tokens": "sum",
        "cost": "sum",
        "ttl_s": "last",
    },
)
TURNS = Table(
    "turns",
    {
        "tenant": "key",
        "session_id": "key",
        "turn_id": "key",
        "version": "first",
        "trigger": "first",
        "reason": "first",
        "started_at": "first",
        "ended_at": "first",
        "resume_at": "first",
    },
)
MESSAGES = Table(
    "messages",
    {
        "tenant": "key",
        "session_id": "key",
        "message_id": "key",
        "version": "first",
        "turn_id": "first",
        "role": "first",
        "content": "first",
        "tokens": "first",
        "status": "last",
        "model_call_id": "first",
        "recorded_at": "first",
    },
)
TOOL_CALLS = Table(
    "tool_calls",
    {
        "tenant": "key",
        "session_id": "key",
        "call_id": "key",
        "version": "first",
        "turn_id": "first",
        "tool": "first",
        "arguments_text": "first",
        "requested_at": "first",
        "attempt": "max",
        "effect": "attempt",
        "idempotency_key": "attempt",
        "started_at": "attempt",
        "lease_until": "attempt",
        "fence": "attempt",
        "outcome": "outcome",
        "ended_at": "outcome",
        "duration_ms": "outcome",
        "error_type": "outcome",
        "error_message": "outcome",
        "output": "outcome",
    },
    final="completed",
)
MODEL_CALLS = Table(
    "model_calls",
    {
        "tenant": "key",
        "session_id": "key",
        "model_call_id": "key",
        "version": "first",
        "turn_id": "first",
        "provider": "first",
        "request_model": "first",
        "response_model": "first",
        "input_tokens": "first",
        "output_tokens": "first",
        "cost": "first",
        "currency": "first",
        "duration_ms": "first",
        "finish_reason": "first",
        "status": "first",
        "recorded_at": "first",
    },
)
