"""Anthropic messages become a message and a call of the model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentjournal import (
    MessageAdded,
    ModelCalled,
    ProviderPart,
    ReasoningPart,
    TextPart,
    ToolCompleted,
)
from agentjournal.responses import recorded_response
from agentjournal.windows.window import WindowOptions, Windows
from tests.unit.window_strategies import state_of


def message_of(*content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-5",
        "content": list(content),
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 20, "output_tokens": 40},
        **fields,
    }


def recorded(raw: Any, **options: Any) -> tuple[MessageAdded, ModelCalled]:
    message, called = recorded_response(raw, duration_ms=12.5, **options)
    assert isinstance(message, MessageAdded)
    assert isinstance(called, ModelCalled)
    assert message.model_call_id == called.model_call_id
    return message, called


def test_thinking_words_and_calls_are_parts_in_their_order() -> None:
    message, called = recorded(
        message_of(
            {"type": "thinking", "thinking": "look first", "signature": "sig=="},
            {"type": "redacted_thinking", "data": "blob=="},
            {"type": "text", "text": "so", "citations": None},
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"b": 1, "a": "é"}},
            stop_reason="tool_use",
        )
    )
    thought, hidden, said, call = message.parts
    assert thought == ReasoningPart(provider="anthropic", text="look first", signature="sig==")
    assert hidden == ReasoningPart(provider="anthropic", encrypted="blob==")
    assert said == TextPart(text="so")
    assert message.tool_calls == [call]
    asked = message.tool_calls[0]
    assert (asked.call_id, asked.name, asked.arguments_text) == (
        "toolu_1",
        "look",
        '{"b":1,"a":"é"}',
    )
    assert (called.provider, called.response_model) == ("anthropic", "claude-opus-4-5")
    assert (called.request_model, called.finish_reason) == ("claude-opus-4-5", "tool_use")


def test_what_an_sdk_makes_of_an_answer_is_no_part_of_it() -> None:
    said = {"type": "text", "text": '{"a":1}'}
    made = {**said, "parsed_output": {"a": 1}}
    assert recorded(message_of(made)) == recorded(message_of(said))


def test_cached_tokens_are_part_of_the_input() -> None:
    usage = {
        "input_tokens": 20,
        "cache_read_input_tokens": 1_000,
        "cache_creation_input_tokens": 300,
        "output_tokens": 40,
        "output_tokens_details": {"thinking_tokens": 30},
    }
    _, called = recorded(message_of({"type": "text", "text": "a"}, usage=usage))
    assert (called.input_tokens, called.output_tokens) == (1_320, 40)
    assert (called.cache_read_input_tokens, called.cache_creation_input_tokens) == (1_000, 300)
    assert called.reasoning_output_tokens == 30


def test_tools_that_the_server_runs_are_kept_exactly() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "server_tool_use", "id": "s_1", "name": "web_search", "input": {"query": "a"}},
        {"type": "web_search_tool_result", "tool_use_id": "s_1", "content": [{"page_age": None}]},
        {"type": "what_comes_next"},
        {"type": "thinking", "thinking": "without its signature"},
        {"type": "thinking", "thinking": "without its signature", "signature": None},
    ]
    message, _ = recorded(message_of(*blocks))
    assert message.parts == [ProviderPart(provider="anthropic", raw=block) for block in blocks]


@pytest.mark.parametrize(
    "arguments",
    [
        {"number": 2**70},
        {"half": "\ud83d"},
        {"b": {"a": [1.5, None, True]}, "a": ""},
    ],
)
def test_arguments_come_back_as_the_same_values(arguments: dict[str, Any]) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": arguments}
    message, called = recorded(message_of(call))
    assert json.loads(message.tool_calls[0].arguments_text.encode()) == arguments
    state = state_of(message, called, ToolCompleted(call_id="toolu_1", output="", duration_ms=1))
    window = Windows().window(state, WindowOptions(format="anthropic"))
    assert window.messages[1]["content"] == [call]


@pytest.mark.parametrize(
    "reason", ["max_tokens", "model_context_window_exceeded", "pause_turn", "refusal"]
)
def test_an_answer_that_is_not_whole_is_incomplete(reason: str) -> None:
    message, called = recorded(message_of({"type": "text", "text": "hel"}, stop_reason=reason))
    assert (message.status, called.status, called.finish_reason) == (
        "incomplete",
        "completed",
        reason,
    )
