"""A file that grows only adds to what was imported of it, and every message is accounted for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from importers.imported import Imported
from importers.openai_chat import read_openai_chat
from importers.planning import Differs, Held, remaining
from tests.chat_files import (
    HELLO,
    HI,
    MORE,
    SYSTEM,
    lines,
    read,
    response,
)

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
GROWING = {
    "messages one a line": lines(
        SYSTEM, HI, {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c", "content": "é€😀"}, {"odd": 1}, HELLO,
    ),
    "a list of messages": json.dumps([SYSTEM, HI, HELLO, MORE]),
    "an object": json.dumps({"messages": [SYSTEM, HI, HELLO, MORE], "at": 3}, indent=2),
    "sessions one a line": lines(
        {"messages": [HI, HELLO]}, {"messages": [MORE], "n": 2}, {"messages": [SYSTEM, HI]}
    ),
    "a list of sessions": json.dumps([
        {"task_id": 1, "traj": [HI], "trial": 0}, {"task_id": 1, "traj": [MORE], "trial": 1},
    ]),
    "a log of requests": lines(
        {"messages": [HI], "response": response("hello", "r-1"), "cost": 1},
        {"messages": [HI, HELLO, MORE], "response": response("yes", "r-2"), "cost": 2},
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", GROWING.values(), ids=GROWING.keys())
def test_a_file_that_grew_by_any_number_of_bytes_only_adds_to_what_it_had(text: str) -> None:
    raw = text.encode()
    whole = read(raw)
    for length in range(len(raw)):
        begun = read_openai_chat(raw[:length], name="chat", source="chat.jsonl")
        held: dict[str, list[Held]] = {}
        for session in begun.sessions if isinstance(begun, Imported) else ():
            held[session.session_id] = [Held(each.id, each.type) for each in session.events]
        for session in whole.sessions:
            there = held.pop(session.session_id, None) or held.pop(session.earlier_id or "", [])
            rest = remaining(session.events, there)
            assert not isinstance(rest, Differs), (length, session.session_id)
            assert len(rest) + len(there) >= len(session.events)
        assert not held, length


def _items(found: Imported) -> int:
    report = found.report
    return report.messages + report.results + report.opaque + report.repeated


@pytest.mark.parametrize("text", GROWING.values(), ids=GROWING.keys())
def test_every_message_of_a_file_is_accounted_for(text: str) -> None:
    values: Sequence[Any] = [json.loads(line) for line in text.splitlines()] if (
        text.count("\n") > 1 and not text.startswith("{\n")
    ) else [json.loads(text)]  # fmt: skip
    values = values[0] if isinstance(values[0], list) else values
    messages = sum(
        len(value.get("messages", value.get("traj", [0]))) + ("response" in value)
        for value in values
    )
    assert _items(read(text)) == messages
