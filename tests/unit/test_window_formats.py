"""Each form of a window is what its API's own SDK says it is, whatever the conversation was."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from anthropic.types import MessageParam, TextBlockParam
from hypothesis import given, settings
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter, ValidationError

from agentjournal import Event, ImagePart, MessageAdded, TextPart, ToolCallPart, ToolCompleted
from agentjournal.events import ProviderPart, ReasoningPart, RefusalPart
from agentjournal.windows.conversation import NO_RESULT
from agentjournal.windows.window import Window, WindowOptions, Windows
from tests.unit.window_strategies import conversations, state_of

CHAT = TypeAdapter(list[ChatCompletionMessageParam])
RESPONSES = TypeAdapter(list[ResponseInputItemParam])
ANTHROPIC = TypeAdapter(list[MessageParam])
SYSTEM = TypeAdapter(list[TextBlockParam])


def window_of(form: Any, *events: Event) -> Window:
    return Windows().window(state_of(*events), WindowOptions(format=form))


def exhausted(value: Any) -> Any:
    """Return a validated value with everything lazy in it looked at."""
    if isinstance(value, Mapping):
        return {name: exhausted(item) for name, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [exhausted(item) for item in value]
    return value


def test_what_the_types_do_not_allow_is_noticed() -> None:
    wrong = [{"role": "assistant", "tool_calls": [{"id": 1}]}]
    with pytest.raises(ValidationError):
        exhausted(CHAT.validate_python(wrong))
    with pytest.raises(ValidationError):
        exhausted(ANTHROPIC.validate_python([{"role": "system", "content": [{"type": "x"}]}]))


@settings(max_examples=60)
@given(conversations())
def test_every_window_is_what_the_sdk_takes(events: list[Event]) -> None:
    exhausted(CHAT.validate_python(window_of("openai-chat", *events).messages))
    exhausted(RESPONSES.validate_python(window_of("openai-responses", *events).messages))
    window = window_of("anthropic", *events)
    exhausted(ANTHROPIC.validate_python(window.messages))
    exhausted(SYSTEM.validate_python(window.system))


@settings(max_examples=60)
@given(conversations())
def test_anthropic_roles_take_turns_and_results_come_first(events: list[Event]) -> None:
    messages = window_of("anthropic", *events).messages
    roles = [message["role"] for message in messages]
    assert roles == (["user", "assistant"] * len(roles))[: len(roles)]
    due: list[str] = []
    for message in messages:
        kinds = [block["type"] for block in message["content"]]
        results = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
        assert results == due
        assert kinds[: len(results)] == ["tool_result"] * len(results)
        due = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
    assert due == []


def said(role: Any, *parts: Any) -> MessageAdded:
    return MessageAdded(role=role, parts=[*parts], message_id=f"{role}-{len(parts)}")


def test_reasoning_stays_before_its_call_with_its_signature() -> None:
    thought = ReasoningPart(provider="anthropic", text="look first", signature="sig==")
    hidden = ReasoningPart(provider="anthropic", encrypted="blob==")
    foreign = ReasoningPart(provider="openai", text="x", id="rs_1", encrypted="gAAA", summary="s")
    call = ToolCallPart(call_id="c", name="look", arguments_text='{"at": [1]}')
    events = [
        said("user", TextPart(text="go")),
        said("assistant", thought, hidden, foreign, call),
        ToolCompleted(call_id="c", output="seen", duration_ms=1),
    ]
    assert window_of("anthropic", *events).messages[1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "look first", "signature": "sig=="},
                {"type": "redacted_thinking", "data": "blob=="},
                {"type": "tool_use", "id": "c", "name": "look", "input": {"at": [1]}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": "seen"}],
        },
    ]
    assert window_of("openai-responses", *events).messages[1:] == [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "s"}],
            "encrypted_content": "gAAA",
        },
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"at": [1]}'},
        {"type": "function_call_output", "call_id": "c", "output": "seen"},
    ]


def test_arguments_that_are_no_object_and_empty_text_become_what_anthropic_takes() -> None:
    call = ToolCallPart(call_id="c", name="look", arguments_text="{broken")
    empty, asking = said("user", TextPart(text=" ")), said("assistant", TextPart(text=""), call)
    assert window_of("anthropic", empty, asking).messages == [
        {"role": "user", "content": [{"type": "text", "text": "[no text]"}]},
        {
            "role": "assistant",
            "content": [
                {
                    "type": "tool_use",
                    "id": "c",
                    "name": "look",
                    "input": {"arguments_text": "{broken"},
                }
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": NO_RESULT}],
        },
    ]


def test_a_conversation_that_the_assistant_began_gets_a_user_before_it() -> None:
    window = window_of("anthropic", said("assistant", TextPart(text="hello")))
    assert [message["role"] for message in window.messages] == ["user", "assistant"]


def test_system_text_stands_beside_the_messages_for_anthropic_and_among_them_for_openai() -> None:
    events = [said("system", TextPart(text="be kind")), said("user", TextPart(text="hi"))]
    assert window_of("anthropic", *events).system == [{"type": "text", "text": "be kind"}]
    assert window_of("openai-chat", *events).system == []
    assert window_of("openai-responses", *events).messages[0] == {
        "type": "message",
        "role": "system",
        "content": [{"type": "input_text", "text": "be kind"}],
    }


def test_images_refusals_and_provider_items_have_a_place() -> None:
    image = ImagePart(media_type="image/png", uri="https://x.example/a.png")
    raw = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    events = [
        said("user", image),
        said("assistant", ProviderPart(provider="openai", raw=raw), RefusalPart(text="no")),
    ]
    assert window_of("openai-responses", *events).messages == [
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_image", "image_url": "https://x.example/a.png", "detail": "auto"}
            ],
        },
        raw,
        {"type": "message", "role": "assistant", "content": "no"},
    ]
    source = {"type": "url", "url": "https://x.example/a.png"}
    assert window_of("anthropic", *events).messages[0]["content"] == [
        {"type": "image", "source": source}
    ]
