"""A session as agents have them: turns of questions, model calls, tool calls, notes and answers."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from itertools import islice

import orjson

import agentjournal
from agentjournal.events import Event
from agentjournal.ids import Partition, stream_id
from agentjournal.log import Log
from agentjournal.partitions import PARTITIONS, partition_of
from benchmarks.load import Record, batch_of, words

EVENTS_A_TURN = 10
_EVENTS_AN_APPEND = 100
_CHANCES = random.Random(815)


def session_events(count: int) -> Sequence[Event]:
    """Return the first `count` events of a session, the one that starts it left out."""
    return list(islice(_events(), count))


async def write_session(log: Log, events: int) -> None:
    """Record a session `bench` of so many events, the one that starts it among them."""
    session, happened = log.session("bench", agent="bench"), session_events(events - 1)
    for at in range(0, len(happened), _EVENTS_AN_APPEND):
        await session.append(happened[at : at + _EVENTS_AN_APPEND])


def turn_requests(sessions: int, events: int) -> dict[Partition, list[Record]]:
    """Return, by partition, requests of a turn each for sessions of so many events."""
    made: dict[Partition, list[Record]] = {Partition(p): [] for p in range(PARTITIONS)}
    for number in range(sessions):
        stream = stream_id("session", "default", f"turns-{number}")
        happened = session_events(events)
        made[partition_of(stream.encode())] += [
            batch_of(stream, happened[at : at + EVENTS_A_TURN])
            for at in range(0, events, EVENTS_A_TURN)
        ]
    return made


def _events() -> Iterator[Event]:
    turn = 0
    while True:
        turn += 1
        yield from _turn(turn)


def _turn(number: int) -> Iterator[Event]:
    """Yield a turn's ten events: the model asks for a tool once, then answers."""
    turn, call, key = f"turn-{number}", f"call-{number}", f"order-{_CHANCES.randrange(40)}"
    arguments = orjson.dumps({"order": 48_000 + number, "reason": words(6)}).decode()
    yield agentjournal.TurnStarted(turn_id=turn, trigger="user")
    yield agentjournal.MessageAdded(
        role="user", content=f"{words(30)} order #{48_000 + number}, {number}.50 EUR"
    )
    yield _called(number)
    yield agentjournal.MessageAdded(
        role="assistant",
        parts=[
            agentjournal.ReasoningPart(provider="openai", summary=words(20)),
            agentjournal.ToolCallPart(call_id=call, name="look_up", arguments_text=arguments),
        ],
    )
    yield agentjournal.ToolStarted(
        call_id=call,
        tool="look_up",
        arguments_text=arguments,
        arguments_digest=hashlib.sha256(arguments.encode()).hexdigest(),
        effect="read",
        idempotency_key=f"key-{number}",
        lease_s=60,
    )
    output = orjson.dumps({"order": key, "state": "sent", "history": words(90)}).decode()
    yield agentjournal.ToolCompleted(
        call_id=call, output=output, result={"order": key, "lines": number % 7}, duration_ms=120.5
    )
    yield agentjournal.NoteSet(key=key, value={"seen": number, "state": "sent"})
    yield _called(number)
    yield agentjournal.MessageAdded(role="assistant", content=words(60))
    yield agentjournal.TurnEnded(turn_id=turn, reason="completed")


def _called(number: int) -> agentjournal.ModelCalled:
    return agentjournal.ModelCalled(
        provider="openai",
        request_model="gpt-5",
        response_model="gpt-5-2026-01-15",
        input_tokens=1_200 + 9 * number,
        cache_read_input_tokens=1_000,
        output_tokens=180,
        duration_ms=913.2,
        finish_reason="stop",
    )
