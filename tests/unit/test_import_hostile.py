"""Whatever a file holds, reading it ends well, and the log takes every event that is read."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from importers.chat_completion import as_time
from importers.imported import Imported
from importers.openai_chat import read_openai_chat
from tests.support import RULES

FILES_A_SEED = 40

NAMES = (
    *("role", "content", "tool_calls", "function_call", "tool_call_id", "name", "refusal"),
    *("reasoning", "reasoning_content", "thinking_blocks", "audio", "status", "parts", "type"),
    *("message_id", "messages", "traj", "response", "choices", "message", "usage", "id", "model"),
    *("prompt_tokens", "completion_tokens", "created", "timestamp", "cost", "latency_sec", "title"),
    *("task_id", "trial", "session_id", "function", "custom", "arguments", "text", "image_url"),
    *("url", "file", "file_id", "finish_reason", "index", "kwargs", "$int", "half\ud800"),
)
BEFORE_ALL_YEARS = "0001-01-01T00:00:00+01:00"
LEAVES = (
    *(None, True, 0, -1, 1.5, float("nan"), 10**25, "", "x\0\ud800", "user", "text", "function"),
    BEFORE_ALL_YEARS,
)

CONTENT = [
    {"type": "text", "text": "a"},
    {"type": "image_url", "image_url": {"url": "u", "detail": "low"}},
    {"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}},
    {"type": "file", "file": {"file_id": "f"}},
    {"type": "refusal", "refusal": "no"},
]
RECORD = {
    "messages": [
        {
            "role": "assistant",
            "content": CONTENT,
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "d", "type": "custom", "custom": {"name": "g", "input": "x"}},
            ],
            "reasoning_content": "r",
            "thinking_blocks": [{"type": "thinking", "thinking": "t", "signature": "s"}],
            "function_call": {"name": "h", "arguments": "1"},
        },
        {"role": "tool", "tool_call_id": "c", "content": "r"},
        {"role": "function", "name": "h", "content": "x"},
        {"role": "user", "content": "hi", "name": "n"},
    ],
    "response": {
        "id": "r",
        "model": "m",
        "created": 1,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "x"}},
            {"index": 1, "message": {"content": "y"}},
        ],
        "usage": {"prompt_tokens": 1, "prompt_tokens_details": {}, "completion_tokens": 2},
    },
    "cost": 0.1,
    "latency_sec": 1,
    "timestamp": 5,
    "title": "t",
    "kwargs": {"model": "z"},
}


def anything(random: Random, depth: int = 0) -> Any:
    match random.randrange(8 if depth < 3 else 6):
        case 6:
            return [anything(random, depth + 1) for _ in range(random.randrange(4))]
        case 7:
            names = random.sample(NAMES, random.randrange(5))
            return {name: anything(random, depth + 1) for name in names}
        case _:
            return random.choice(LEAVES)


def spoilt(random: Random, value: Any) -> Any:
    """Return `value` with a few things in it lost, added, or turned into others."""
    if random.random() < 0.03:
        return anything(random)
    if isinstance(value, dict):
        kept = {name: spoilt(random, of) for name, of in value.items() if random.random() > 0.02}
        while random.random() < 0.15:
            kept[random.choice(NAMES)] = anything(random)
        return kept
    if isinstance(value, list):
        items = [spoilt(random, item) for item in value if random.random() > 0.03]
        return [*items, anything(random)] if random.random() < 0.1 else items
    return value


def written(random: Random) -> bytes:
    """Return a file of spoilt records, in one form or another, at times with wrong bytes or cut."""
    records = [spoilt(random, RECORD) for _ in range(random.randrange(1, 4))]
    if random.random() < 0.6:
        text = "\n".join(map(json.dumps, records))
    else:
        text = json.dumps(records, indent=random.choice([None, 1]))
    raw = bytearray(text.encode())
    for _ in range(random.choice([0, 0, 0, 1, 3])):
        raw[random.randrange(len(raw))] = random.randrange(256)
    return bytes(raw[: random.randrange(len(raw))] if random.random() < 0.2 else raw)


@pytest.mark.parametrize("seed", range(10))
def test_what_is_read_is_taken_by_the_log_and_read_alike_again(seed: int) -> None:
    random = Random(seed)
    sessions = 0
    for raw in (written(random) for _ in range(FILES_A_SEED)):
        found = read_openai_chat(raw, name="chat", source="chat.json")
        assert found == read_openai_chat(raw, name="chat", source="chat.json")
        for session in found.sessions if isinstance(found, Imported) else ():
            sessions += 1
            ids = [each.id for each in session.events]
            assert len(set(ids)) == len(ids)
            for each in session.events:
                _, fault = RULES.check("session", each.type, each.schema_version, each.data)
                assert fault is None
    assert sessions > FILES_A_SEED / 2


@pytest.mark.parametrize(
    ("value", "time"),
    [
        (1.5, "1970-01-01T00:00:01.500Z"),
        ("2026-01-31T14:00:00.1239+02:00", "2026-01-31T12:00:00.123Z"),
        ("0987-06-05T00:00:00Z", "0987-06-05T00:00:00.000Z"),
        ("2026-01-31T14:00:00", None),  # nobody knows where
        (BEFORE_ALL_YEARS, None),
        (10**25, None),
        (True, None),
    ],
)
def test_a_time_is_read_where_there_is_one(value: object, time: str | None) -> None:
    assert as_time(value) == time
