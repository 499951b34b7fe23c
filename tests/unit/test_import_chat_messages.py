"""Chat messages as events: each is what it was, and every call has its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agentjournal.events import (
    CustomEvent,
    MessageAdded,
    ProviderPart,
    TextPart,
    ToolCallPart,
    ToolCompleted,
)
from importers.imported import Imported, ImportedEvent
from tests.chats import asks, call_ids, events, gave, message, read


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant"])
def test_a_message_keeps_its_role_and_text(role: str) -> None:
    found = message({"role": role, "content": " exact \n text ", "name": "Ann"})
    assert (found.role, found.parts, found.name) == (
        role,
        [TextPart(text=" exact \n text ")],
        "Ann",
    )


def test_content_null_beside_calls_is_no_part() -> None:
    found = message(asks(("c1", "look", '{"q":  1}')))
    assert found.parts == [ToolCallPart(call_id="c1", name="look", arguments_text='{"q":  1}')]


def test_empty_text_is_told_from_none() -> None:
    assert message({"role": "assistant", "content": ""}).parts == [TextPart(text="")]


def test_arguments_are_kept_byte_for_byte_though_they_are_no_json() -> None:
    (part,) = message(asks(("c", "f", "{'a': oops}\u0000"))).tool_calls
    assert part.arguments_text == "{'a': oops}\u0000"


def test_a_result_belongs_to_its_call_and_is_exact() -> None:
    found = events(asks(("a", "f", ""), ("b", "g", "")), gave("b", "B\r\n"), gave("a", "A"))
    assert found[1:] == [
        ToolCompleted(call_id="b", output="B\r\n", duration_ms=0.0),
        ToolCompleted(call_id="a", output="A", duration_ms=0.0),
    ]


def test_an_error_in_a_result_is_text_like_any_other() -> None:
    found = events(asks(("a", "f", "")), gave("a", "Error: no such order"))
    assert isinstance(found[1], ToolCompleted)
    assert found[1].output == "Error: no such order"


def test_a_call_id_that_is_used_again_gets_a_suffix_and_its_own_result() -> None:
    found = events(asks(("x", "f", "1")), gave("x", "one"), asks(("x", "f", "2")), gave("x", "two"))
    assert call_ids(found) == ["x", "=x", "x-2", "=x-2"]
    assert isinstance(found[2], MessageAdded)
    assert found[2].tool_calls[0].model_extra == {"provider_call_id": "x"}
    assert found[3].model_extra == {"provider_call_id": "x"}


def test_results_of_one_id_in_one_message_belong_to_its_calls_in_order() -> None:
    found = events(asks(("x", "f", "1"), ("x", "f", "2")), gave("x", "one"), gave("x", "two"))
    assert call_ids(found) == ["x", "x-2", "=x", "=x-2"]


def test_a_result_belongs_to_the_latest_call_when_an_earlier_one_was_interrupted() -> None:
    found = events(asks(("x", "f", "1")), asks(("x", "f", "2")), gave("x", "two"))
    assert call_ids(found) == ["x", "x-2", "=x-2"]


def test_a_suffixed_id_never_meets_one_of_the_provider() -> None:
    found = events(asks(("x-2", "f", "")), asks(("x", "f", "")), asks(("x", "f", "")))
    assert call_ids(found) == ["x-2", "x", "x-3"]


def test_a_result_without_an_id_belongs_to_the_open_call_of_its_tool() -> None:
    found = events(asks((None, "f", ""), ("", "g", "")), gave(None, "G", name="g"), gave(None, "F"))
    assert call_ids(found) == ["call-0", "call-0-2", "=call-0-2", "=call-0"]


def test_the_older_function_call_and_its_result_are_a_call_like_any_other() -> None:
    found = events(
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "done"},
    )
    assert call_ids(found) == ["call-0", "=call-0"]
    assert isinstance(found[1], ToolCompleted)
    assert found[1].output == "done"


def test_a_result_without_a_call_is_kept_as_it_was_written_and_named() -> None:
    orphan = gave("nobody", "here")
    found = read([{"role": "user", "content": "hi"}, orphan])
    kept = found.sessions[0].events[2].event
    assert isinstance(kept, CustomEvent)
    assert kept.type == "custom.import.record"
    assert kept.fields["raw"] == orphan
    assert found.report.opaque == 1
    assert found.report.notes == [
        "message 2 is the result of no open call: kept as custom.import.record"
    ]
    assert not found.report.left_out


def test_a_second_result_of_a_call_is_kept_as_it_was_written() -> None:
    found = read([asks(("x", "f", "")), gave("x", "one"), gave("x", "two")])
    assert (found.report.results, found.report.opaque) == (1, 1)


def test_a_call_without_a_result_stays_open() -> None:
    assert call_ids(events(asks(("x", "f", "")), {"role": "user", "content": "stop"})) == ["x"]


@pytest.mark.parametrize(
    "odd", [{"role": "critic", "content": "no"}, {"no": "role"}, "text", 7, None, [1]]
)
def test_what_is_no_message_is_kept_in_its_place(odd: Any) -> None:
    found = events({"role": "user", "content": "a"}, odd, {"role": "user", "content": "b"})
    assert isinstance(found[1], CustomEvent)
    assert found[1].fields["raw"] == odd
    assert [each.type for each in found] == [
        "message.added",
        "custom.import.record",
        "message.added",
    ]


def test_a_custom_call_is_a_call_and_one_without_a_name_is_kept_raw() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}
    nameless = {"id": "d", "type": "function", "function": {"name": "", "arguments": "{}"}}
    found = message({"role": "assistant", "tool_calls": [custom, nameless, "odd"]})
    (call,) = found.tool_calls
    assert (call.call_id, call.name, call.arguments_text) == ("c", "sh", "ls -l")
    assert found.parts[1:] == [
        ProviderPart(provider="openai", raw=nameless),
        ProviderPart(provider="openai", raw="odd"),
    ]


def test_arguments_that_are_an_object_are_written_as_json() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": {"a": [1]}}}
    assert message({"role": "assistant", "tool_calls": [call]}).tool_calls[0].arguments_text == (
        '{"a":[1]}'
    )


def test_results_may_be_parts_null_or_an_object() -> None:
    found = events(
        asks(("a", "f", ""), ("b", "f", ""), ("c", "f", "")),
        gave("a", [{"type": "text", "text": "A"}]),
        gave("b", None),
        gave("c", {"ok": True}),
    )
    assert [each.output for each in found if isinstance(each, ToolCompleted)] == [
        [TextPart(text="A")],
        "",
        '{"ok":true}',
    ]
    assert isinstance(found[3], ToolCompleted)
    assert found[3].result == {"ok": True}


def test_call_ids_that_are_none_get_an_id_and_keep_what_they_were() -> None:
    odd = "line\nbreak" + "x" * 300
    found = events(asks((odd, "f", "")), gave(odd, "r"))
    assert isinstance(found[0], MessageAdded)
    (call,) = found[0].tool_calls
    assert len(call.call_id) <= 255
    assert call.model_extra == {"provider_call_id": odd}
    assert call_ids(found) == [call.call_id, f"={call.call_id}"]


def test_the_same_messages_get_the_same_ids() -> None:
    messages = [{"role": "user", "content": "hi"}, asks(("a", "f", "")), gave("a", "x")]

    def made(found: Imported) -> Sequence[ImportedEvent]:
        return found.sessions[0].events

    assert made(read(messages)) == made(read(messages))
    other = [each.id for each in made(read([{"role": "user", "content": "ho"}, *messages[1:]]))]
    same = [each.id for each in made(read(messages))]
    assert [a == b for a, b in zip(same, other, strict=True)] == [True, False, True, True]
    assert len(set(same)) == len(same)
