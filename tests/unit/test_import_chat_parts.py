"""Content and fields of chat messages: what has a word becomes that, the rest is kept as it was."""

from __future__ import annotations

from typing import Any

import pytest

from agentjournal.codec import decode
from agentjournal.events import (
    AudioPart,
    DocumentPart,
    ImagePart,
    MessageAdded,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
    VideoPart,
)
from importers.imported import Imported
from importers.openai_chat import read_openai_chat
from tests.chats import events, gave, message

PICTURE = "data:image/png;base64,AA=="


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
