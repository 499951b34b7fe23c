"""Responses of the OpenAI Responses API become a message and a call of the model."""

from __future__ import annotations

from typing import Any

import pytest

from agentjournal import (
    AppendRejected,
    MessageAdded,
    ModelCalled,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
)
from agentjournal.responses import recorded_response


def response(*output: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_769_860_800,
        "status": "completed",
        "model": "gpt-5-2026-01-31",
        "output": list(output),
        "instructions": "be kind",
        "tools": [{"type": "function", "name": "look"}],
        "temperature": 1.0,
        "usage": {
            "input_tokens": 120,
            "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 8},
            "output_tokens": 40,
            "output_tokens_details": {"reasoning_tokens": 30},
            "total_tokens": 160,
        },
        **fields,
    }


def recorded(raw: Any, **options: Any) -> tuple[MessageAdded, ModelCalled]:
    message, called = recorded_response(raw, duration_ms=12.5, **options)
    assert isinstance(message, MessageAdded)
    assert isinstance(called, ModelCalled)
    assert message.model_call_id == called.model_call_id
    return message, called


def says(text: str) -> dict[str, Any]:
    piece = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": [piece]}


def test_reasoning_words_and_calls_are_parts_in_their_order() -> None:
    reasoning = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "look first"}],
        "encrypted_content": "gAAA==",
    }
    refusal = {**says(""), "id": "msg_2", "content": [{"type": "refusal", "refusal": "not that"}]}
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "look",
        "arguments": '{ "a":1.0}',
    }
    message, called = recorded(response(reasoning, says("so"), refusal, call))
    thought, said, refused, asked = message.parts
    assert isinstance(thought, ReasoningPart)
    assert (thought.id, thought.summary) == ("rs_1", "look first")
    assert (thought.provider, thought.encrypted) == ("openai", "gAAA==")
    assert isinstance(said, TextPart)
    assert (said.text, said.model_extra) == ("so", {"item": {"id": "msg_1"}})
    assert isinstance(refused, RefusalPart)
    assert refused.text == "not that"
    assert isinstance(asked, ToolCallPart)
    assert (asked.call_id, asked.name, asked.arguments_text) == ("call_1", "look", '{ "a":1.0}')
    assert (called.input_tokens, called.output_tokens) == (120, 40)
    assert (called.cache_read_input_tokens, called.cache_creation_input_tokens) == (100, 8)
    assert (called.reasoning_output_tokens, called.finish_reason) == (30, "completed")


def test_items_of_built_in_tools_are_kept_exactly() -> None:
    items: list[dict[str, Any]] = [
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": None},
        {"type": "file_search_call", "id": "fs_1", "queries": ["a"], "results": None},
        {"type": "what_comes_next", "id": "x_1"},
        {"type": "function_call", "id": "fc_1"},  # not in the form of a call
    ]
    message, _ = recorded(response(*items))
    assert message.parts == [ProviderPart(provider="openai", raw=item) for item in items]


def test_what_the_response_repeats_of_the_request_is_not_written_again() -> None:
    _, called = recorded(response(says("a"), metadata={"run": "7"}, previous_response_id="resp_0"))
    beside = called.model_extra or {}
    assert sorted(beside) == ["created_at", "metadata", "previous_response_id", "usage"]


@pytest.mark.parametrize("reason", ["max_output_tokens", "content_filter"])
def test_an_answer_that_was_cut_off_is_incomplete_and_says_why(reason: str) -> None:
    cut = response(says("hel"), status="incomplete", incomplete_details={"reason": reason})
    message, called = recorded(cut)
    assert (message.status, called.status) == ("incomplete", "completed")
    assert called.finish_reason == reason


def test_a_response_that_failed_is_a_failed_call_with_what_it_had_said() -> None:
    error = {"code": "server_error", "message": "try again"}
    failed = response(status="failed", error=error, usage=None)
    (called,) = recorded_response(failed, duration_ms=1)
    assert isinstance(called, ModelCalled)
    assert (called.status, called.input_tokens) == ("failed", 0)
    assert called.error is not None
    assert (called.error.type, called.error.message) == ("server_error", "try again")
    message, called = recorded(response(says("hel"), status="cancelled"))
    assert (message.text, message.status, called.status) == ("hel", "incomplete", "cancelled")


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_response_that_has_not_ended_is_refused(status: str) -> None:
    with pytest.raises(AppendRejected, match=rf"response\.status: is {status}"):
        recorded(response(status=status))


def test_what_an_sdk_makes_of_an_answer_is_no_part_of_it() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"a":1}'}
    piece = {"type": "output_text", "text": '{"a":1}', "annotations": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant"}
    made = [
        {**item, "content": [{**piece, "parsed": {"a": 1}}]},
        {**call, "parsed_arguments": {"a": 1}},
    ]
    assert recorded(response(*made)) == recorded(response({**item, "content": [piece]}, call))


def test_a_call_that_a_session_has_gets_an_id_of_its_own() -> None:
    call = {"type": "custom_tool_call", "call_id": "call_0", "name": "sql", "input": "SELECT 1"}
    message, _ = recorded(response(call), taken=["call_0"])
    (asked,) = message.tool_calls
    assert (asked.call_id, asked.arguments_text) == ("call_0-2", "SELECT 1")
    assert asked.model_extra == {"call_type": "custom", "provider_call_id": "call_0"}
