"""Values that are larger than one request: taken out, named, and nothing else is lost."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from agentjournal.events import CustomEvent, MessageAdded, ToolCompleted
from importers.imported import Imported
from importers.openai_chat import read_openai_chat
from importers.oversize import MAX_EVENT_BYTES

LARGE = "é" * 500_000  # a million bytes


def read(*messages: Any) -> Imported:
    raw = json.dumps(messages).encode()
    found = read_openai_chat(raw, name="chat", source="chat.json")
    assert isinstance(found, Imported)
    assert all(len(each.data) <= MAX_EVENT_BYTES for each in found.sessions[0].events)
    return found


def asks(arguments: str = "{}") -> dict[str, Any]:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_large_result_is_named_in_a_part_in_an_event_and_in_the_report() -> None:
    result = {"role": "tool", "tool_call_id": "c", "content": LARGE}
    found = read(asks(), result, {"role": "user", "content": "and then"})
    _, _, completed, missing, after = (each.event for each in found.sessions[0].events)
    value = {"place": "output", "bytes": 1_000_000, "sha256": digest(LARGE)}
    assert isinstance(completed, ToolCompleted)
    assert isinstance(completed.output, list)
    (part,) = completed.output
    assert part.model_dump() == {
        "type": "provider",
        "provider": "import",
        "raw": {"missing": value},
    }
    assert isinstance(missing, CustomEvent)
    assert missing.type == "custom.import.missing"
    assert missing.fields["values"] == [value]
    assert missing.fields["event_id"] == found.sessions[0].events[2].id
    assert isinstance(after, MessageAdded)
    (left_out,) = found.report.left_out
    assert (left_out.place, left_out.size) == ("message 2, output", 1_000_000)


def test_of_a_message_only_the_large_part_is_missing() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 10**6}}
    found = read({"role": "user", "content": [{"type": "text", "text": "look"}, picture]})
    event = found.sessions[0].events[1].event
    assert isinstance(event, MessageAdded)
    assert event.text == "look"
    assert [part.type for part in event.parts] == ["text", "provider"]
    assert [each.place for each in found.report.left_out] == ["message 1, parts[1]"]


def test_a_call_with_large_arguments_stays_a_call() -> None:
    found = read(asks(LARGE), {"role": "tool", "tool_call_id": "c", "content": "done"})
    event = found.sessions[0].events[1].event
    assert isinstance(event, MessageAdded)
    (call,) = event.tool_calls
    assert (call.call_id, call.name, call.arguments_text) == ("c", "f", "")
    assert call.model_extra == {
        "missing": {"place": "parts[0]", "bytes": 1_000_000, "sha256": digest(LARGE)}
    }
    assert found.report.results == 1


@pytest.mark.parametrize(
    "odd",
    [
        {"role": "user", "content": "hi", "attachment": LARGE},
        {"role": "nobody", "content": LARGE},
        {"role": "user", "content": [{"type": "text", "text": "x" * 200_000}] * 6},
        {"role": "user", "content": [{"type": "text", "text": "x"}] * 40_000},
    ],
    ids=["an unknown field", "an unknown record", "many large parts", "very many small parts"],
)
def test_whatever_is_large_the_rest_is_imported(odd: dict[str, Any]) -> None:
    found = read({"role": "user", "content": "before"}, odd, {"role": "user", "content": "after"})
    types = [each.type for each in found.sessions[0].events]
    assert types[1] == types[-1] == "message.added"
    assert types[3] == "custom.import.missing"
    assert found.report.left_out


def test_a_large_value_has_the_same_ids_each_time() -> None:
    first, second = (
        [each.id for each in read({"role": "user", "content": LARGE}).sessions[0].events]
        for _ in range(2)
    )
    assert first == second
    assert len(set(first)) == 3
