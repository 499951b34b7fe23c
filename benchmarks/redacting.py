"""What redaction costs: the events of an agent on their way out, with it and without it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from agentjournal.events import (
    Event,
    MessageAdded,
    TextPart,
    ToolCallPart,
    ToolCompleted,
    ToolStarted,
)
from agentjournal.outgoing import Redact, outgoing
from agentjournal.redaction import Redactor
from agentjournal.settings import Settings
from benchmarks.load import message, words

TURNS = 400
PAIRS = 15
LARGE = 1_000_000

Figures = Mapping[str, tuple[float, str]]


async def redact(_: Settings) -> Figures:
    """Events made ready to be sent, with redaction and without; and a megabyte of output."""
    return await asyncio.to_thread(_measured)


def _measured() -> Figures:
    redactor = Redactor()
    turns = [_turn(number) for number in range(TURNS)]
    large = [ToolCompleted(call_id="c", attempt=1, output=words(LARGE // 6), duration_ms=1)]
    with_it, without, of_large = 0.0, 0.0, 0.0
    for _ in range(PAIRS):
        without += _seconds(turns, None)
        with_it += _seconds(turns, redactor)
        began = time.perf_counter()
        redactor(large[0])
        of_large += time.perf_counter() - began
    events = PAIRS * sum(map(len, turns))
    return {
        "redact": (events / with_it, "events/s"),
        "redact.raw": (events / without, "events/s"),
        "redact.cost": ((with_it - without) / events * 1e6, "µs/event"),
        "redact.megabyte": (of_large / PAIRS * 1e3, "ms"),
    }


def _seconds(turns: Sequence[Sequence[Event]], redactor: Redact | None) -> float:
    began = time.perf_counter()
    for events in turns:
        outgoing("session", events, redactor)
    return time.perf_counter() - began


def _turn(number: int) -> list[Event]:
    """Return what a user says, a call with its output of some kilobytes, and an answer."""
    call_id, arguments = f"c-{number}", f'{{"path": "src/{number}.py", "query": "{words(8)}"}}'
    part = ToolCallPart(call_id=call_id, name="search", arguments_text=arguments)
    return [
        message(),
        MessageAdded(role="assistant", parts=[TextPart(text=words(20)), part]),
        ToolStarted(
            call_id=call_id,
            tool="search",
            arguments_text=arguments,
            arguments_digest="0" * 64,
            effect="read",
            idempotency_key="0" * 32,
            attempt=1,
            lease_s=60,
        ),
        ToolCompleted(call_id=call_id, attempt=1, output=words(500), duration_ms=1),
        message(),
    ]
