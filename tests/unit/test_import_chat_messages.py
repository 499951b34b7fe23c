"""Chat messages as events: every field is in the event, and every call has its result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from agentjournal.codec import decode
from agentjournal.events import (
    AudioPart,
    CustomEvent,
    DocumentPart,
    Event,
    ImagePart,
    MessageAdded,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    ToolCompleted,
    VideoPart,
)
from importers.imported import Imported, ImportedEvent
from importers.openai_chat import read_openai_chat

PICTURE = "data:image/png;base64,AA=="


def read(messages: Sequence[Any]) -> Imported:
    raw = json.dumps(messages).encode()
    found = read_openai_chat(raw, name="chat", source="chat.json")
    assert isinstance(found, Imported)
    return found


def events(*messages: Any) -> list[Event]:
    """Return the events of one session behind its start."""
    (session,) = read(messages).sessions
    return [each.event for each in session.events[1:]]


def message(raw: dict[str, Any]) -> MessageAdded:
    (event,) = events(raw)
    assert isinstance(event, MessageAdded)
    return event


def asks(*calls: tuple[str | None, str, str], **fields: Any) -> dict[str, Any]:
    made = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": made, **fields}


def gave(call_id: str | None, content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


def call_ids(found: Sequence[Event]) -> list[str]:
    """Return the ids of calls (asked) and of results (=given), in their order."""
    ids: list[str] = []
    for event in found:
        if isinstance(event, MessageAdded):
            ids += [part.call_id for part in event.tool_calls]
        elif isinstance(event, ToolCompleted):
            ids.append(f"={event.call_id}")
    return ids


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


def test_parts_that_have_a_word_become_that_part() -> None:
    found = message(
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look", "cache_control": {"type": "ephemeral"}},
                {"type": "image_url", "image_url": {"url": PICTURE, "detail": "low"}},
                {"type": "image_url", "image_url": "https://example.org/a.JPG?x=1"},
                {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
                {"type": "file", "file": {"file_id": "file-1"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "AA=="}},
                {"type": "video_url", "video_url": {"url": "https://example.org/v"}},
                {"type": "refusal", "refusal": "no"},
            ],
        }
    )
    assert [type(part) for part in found.parts] == [
        *(TextPart, ImagePart, ImagePart, AudioPart),
        *(DocumentPart, DocumentPart, VideoPart, RefusalPart),
    ]
    written = decode(found.encoded())["parts"]
    assert written[0]["cache_control"] == {"type": "ephemeral"}
    assert written[1] == {
        "type": "image",
        "media_type": "image/png",
        "uri": PICTURE,
        "detail": "low",
    }
    assert written[2]["media_type"] == "image/jpeg"
    assert written[3]["uri"] == "data:audio/wav;base64,AA=="
    assert written[4]["file_id"] == "file-1"
    assert (written[5]["media_type"], written[5]["filename"]) == ("application/pdf", "a.pdf")


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "hologram", "depth": 3},
        {"type": "text", "text": None},
        {"type": "image_url", "image_url": {"url": 7}},
        {"type": "image_url"},
        {"type": "file", "file": {"filename": "nothing in it"}},
        {"type": ["text"]},
        {"text": "no type"},
        "bare text",
        None,
    ],
)
def test_a_part_in_no_known_form_is_kept_raw(odd: Any) -> None:
    assert message({"role": "user", "content": [odd]}).parts == [
        ProviderPart(provider="openai", raw=odd)
    ]


def test_what_a_model_thought_stands_before_what_it_said() -> None:
    found = message({"role": "assistant", "content": "yes", "reasoning_content": "hm"})
    assert isinstance(found.parts[0], ReasoningPart)
    assert found.parts[0].text == "hm"
    assert found.parts[1:] == [TextPart(text="yes")]


def test_thinking_blocks_keep_their_signatures_and_are_not_doubled() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "dreaming", "of": "sheep"},
    ]
    raw = {"role": "assistant", "content": "", "reasoning_content": "hm", "thinking_blocks": blocks}
    first, second, third, last = message(raw).parts
    assert isinstance(first, ReasoningPart)
    assert (first.text, first.signature, first.provider) == ("hm", "c2ln", "anthropic")
    assert isinstance(second, ReasoningPart)
    assert second.encrypted == "b3BhcXVl"
    assert third == ProviderPart(provider="anthropic", raw=blocks[2])
    assert last == TextPart(text="")


def test_a_refusal_is_a_part() -> None:
    found = message({"role": "assistant", "content": None, "refusal": "I will not"})
    assert found.parts == [RefusalPart(text="I will not")]


def test_fields_that_have_no_word_are_kept_beside_the_others() -> None:
    raw = {
        "role": "assistant",
        "content": "x",
        "audio": {"id": "a-1"},
        "annotations": [],
        "status": "odd",
        "message_id": 7,
        "$ref": 1,
        "half\ud800": 2,
    }
    found = message(raw)
    assert found.status == "complete"
    extra = found.model_extra
    assert extra == {
        "audio": {"id": "a-1"},
        "annotations": [],
        "provider_fields": {"status": "odd", "message_id": 7, "$ref": 1, "half\ud800": 2},
    }


def test_fields_of_calls_and_results_are_kept_too() -> None:
    call = {
        "id": "c",
        "type": "function",
        "index": 0,
        "function": {"name": "f", "arguments": "{}", "strict": True},
    }
    found = events({"role": "assistant", "tool_calls": [call]}, gave("c", "x", name="f", cost=0.5))
    assert isinstance(found[0], MessageAdded)
    assert found[0].tool_calls[0].model_extra == {"index": 0, "strict": True}
    assert found[1].model_extra == {"name": "f", "cost": 0.5}


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


def test_nul_lone_surrogates_and_huge_integers_survive_exactly() -> None:
    raw = (
        b'[{"role": "user", "content": "a\\u0000b\\ud800c", "n": 123456789012345678901234567890},'
        b' {"role": "user", "content": "\\ud83d\\ude00"}]'
    )
    read_chat = read_openai_chat(raw, name="chat", source="chat.json")
    assert isinstance(read_chat, Imported)
    written = [decode(each.data) for each in read_chat.sessions[0].events[1:]]
    assert written[0]["parts"] == [{"type": "text", "text": "a\0b\ud800c"}]
    assert written[0]["n"] == 123456789012345678901234567890
    assert written[1]["parts"][0]["text"] == "😀"


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
