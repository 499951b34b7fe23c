"""Conversations that use every table of the read models."""

from __future__ import annotations

import asyncio

from agentjournal import (
    Log,
    MessageAdded,
    ModelCalled,
    SessionEnded,
    ToolCompleted,
    ToolFailed,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)


async def write_conversations(log: Log, prefix: str, count: int) -> None:
    """Write `count` sessions side by side, each in several appends."""
    await asyncio.gather(*(_write_one(log, f"{prefix}-{n}") for n in range(count)))


async def _write_one(log: Log, session_id: str) -> None:
    session = log.session(session_id, user="u-1", agent="clerk", title=f"About {session_id}\0")
    turn = TurnStarted(turn_id="t1", trigger="user")
    await session.append([turn, MessageAdded(role="user", content=f"Pay {session_id}\0 \ud800")])
    calls = [
        {"type": "tool_call", "call_id": f"c{n}", "name": "pay", "arguments_text": '{"n": 1}'}
        for n in range(2)
    ]
    model = ModelCalled.model_validate(
        {
            "model_call_id": "m1",
            "provider": "openai",
            "request_model": "gpt",
            "input_tokens": 10,
            "output_tokens": 3,
            "cost": {"amount": "0.0012", "currency": "USD", "source": "provider"},
            "duration_ms": 12.5,
            "status": "completed",
            "attempt": 1,
        }
    )
    await session.append(
        [MessageAdded.model_validate({"role": "assistant", "parts": calls}), model]
    )
    for number in range(2):
        await session.append(_started(f"c{number}"))
    await session.append(ToolCompleted(call_id="c0", output="done \0", duration_ms=3.0))
    failure = {"type": "error", "message": "no money \0", "retryable": True}
    await session.append(ToolFailed.model_validate({"call_id": "c1", "error": failure}))
    await session.append([_started("c1", attempt=2)])
    await session.append([TurnEnded(turn_id="t1", reason="completed"), SessionEnded()])


def _started(call_id: str, *, attempt: int = 1) -> ToolStarted:
    return ToolStarted(
        call_id=call_id,
        tool="pay",
        arguments_text='{"n": 1}',
        arguments_digest="d",
        effect="external",
        idempotency_key=f"k-{call_id}-{attempt}",
        attempt=attempt,
        lease_s=30,
    )
