"""A conversation as one JSON object: every value as it was recorded."""

from __future__ import annotations

from typing import Any

from agentjournal.events import ModelCalled, TurnEnded, TurnStarted
from agentjournal.events.wire import wire_form
from agentjournal.ids import parse_stream
from agentjournal.tool_calls import ToolCall
from commands.previews import written_output
from commands.transcript import CallTimes, Happened, Said, Transcript


def transcript_object(shown: Transcript, *, last_version: int) -> dict[str, Any]:
    """Return the header, and messages, calls, model calls, turns and other events in order."""
    state = shown.state
    _, tenant, session_id = parse_stream(state.stream)
    return {
        "stream": state.stream,
        "tenant": tenant,
        "session_id": session_id,
        "user": state.user,
        "agent": state.agent,
        "title": state.title,
        "status": state.status,
        "version": state.version,
        "last_version": last_version,
        "started_at": shown.started_at,
        "last_activity_at": shown.last_at,
        "input_tokens": shown.input_tokens,
        "output_tokens": shown.output_tokens,
        "cost": {currency: format(amount, "f") for currency, amount in shown.costs.items()},
        "open_calls": [call.call_id for call in state.open_calls],
        "messages": [_message(e, shown) for e in shown.entries if isinstance(e, Said)],
        "tool_calls": [
            _call(call, shown.times.get(call.call_id, CallTimes())) for call in state.calls.values()
        ],
        **_happened(shown),
    }


def _message(said: Said, shown: Transcript) -> dict[str, Any]:
    message = said.message
    retracted = message.message_id in shown.retracted
    return {
        "version": message.version,
        "message_id": message.message_id,
        "recorded_at": message.recorded_at,
        "turn_id": message.turn_id,
        "role": message.role,
        "name": message.name,
        "text": message.text,
        "parts": [wire_form(part) for part in message.parts],
        "status": "retracted" if retracted else message.status,
        "tokens": message.tokens,
        "model_call_id": message.model_call_id,
    }


def _call(call: ToolCall, times: CallTimes) -> dict[str, Any]:
    return {
        "version": call.version,
        "call_id": call.call_id,
        "tool": call.tool,
        "arguments_text": call.arguments_text,
        "outcome": call.outcome,
        "attempt": call.attempt,
        "effect": call.effect,
        "idempotency_key": call.idempotency_key,
        "started_at": times.started_at,
        "lease_s": times.lease_s,
        "duration_ms": times.duration_ms,
        "output": written_output(call.output),
        "result": call.result,
        "error": None if call.error is None else wire_form(call.error),
    }


def _happened(shown: Transcript) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {"model_calls": [], "turns": [], "others": []}
    for entry in shown.entries:
        if not isinstance(entry, Happened):
            continue
        recorded = entry.recorded
        place = {
            "version": recorded.version,
            "type": recorded.type,
            "recorded_at": recorded.recorded_at,
            "data": recorded.data,
        }
        match entry.event:
            case ModelCalled():
                found["model_calls"].append(place)
            case TurnStarted() | TurnEnded():
                found["turns"].append(place)
            case _:
                found["others"].append(place)
    return found
