"""OpenAI chat completions become a message and a call of the model."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.chat import ChatCompletion

from agentjournal import (
    AppendRejected,
    AudioPart,
    Event,
    MessageAdded,
    ModelCalled,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    ToolCompleted,
)
from agentjournal.responses import recorded_response
from agentjournal.windows.window import WindowOptions, Windows
from tests.unit.window_strategies import state_of


def completion(message: dict[str, Any], finish: str = "stop", **fields: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": None, **message}
    choice = {"index": 0, "message": said, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_769_860_800,
        "model": "gpt-5-2026-01-31",
        "choices": [choice],
        "usage": {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17},
        **fields,
    }


def recorded(response: Any, **options: Any) -> tuple[MessageAdded, ModelCalled]:
    message, called = recorded_response(response, duration_ms=12.5, **options)
    assert isinstance(message, MessageAdded)
    assert isinstance(called, ModelCalled)
    assert message.model_call_id == called.model_call_id
    return message, called


CALL = {"id": "c-1", "type": "function", "function": {"name": "look", "arguments": '{ "a":1.0}'}}


def test_a_completion_is_its_message_and_then_what_the_call_was() -> None:
    usage = {
        "prompt_tokens": 1_200,
        "completion_tokens": 50,
        "total_tokens": 1_250,
        "prompt_tokens_details": {"cached_tokens": 1_000, "cache_write_tokens": 100},
        "completion_tokens_details": {"reasoning_tokens": 30},
    }
    response = completion({"content": "hello", "tool_calls": [CALL]}, usage=usage)
    message, called = recorded(response, request_model="gpt-5", attempt=2)
    call = ToolCallPart(call_id="c-1", name="look", arguments_text='{ "a":1.0}')
    assert message.parts == [TextPart(text="hello"), call]
    assert (message.role, message.status) == ("assistant", "complete")
    assert (called.provider, called.request_model) == ("openai", "gpt-5")
    assert (called.response_model, called.response_id) == ("gpt-5-2026-01-31", "chatcmpl-1")
    assert (called.input_tokens, called.output_tokens) == (1_200, 50)
    assert (called.cache_read_input_tokens, called.cache_creation_input_tokens) == (1_000, 100)
    assert called.reasoning_output_tokens == 30
    assert (called.duration_ms, called.finish_reason, called.attempt) == (12.5, "stop", 2)
    assert called.status == "completed"


def test_what_has_no_field_of_ours_is_kept_beside() -> None:
    logprobs = {"content": [{"token": "a", "logprob": -0.5}]}
    beside = {"annotations": [{"type": "url_citation"}], "mood": "ok", "name": "eva"}
    response = completion({"content": "a", **beside})
    response |= {"system_fingerprint": "fp", "service_tier": None}
    response["choices"][0]["logprobs"] = logprobs
    message, called = recorded(response)
    assert message.name == "eva"
    assert message.model_extra == {"annotations": [{"type": "url_citation"}], "mood": "ok"}
    assert called.model_extra == {
        "created": 1_769_860_800,
        "system_fingerprint": "fp",
        "usage": {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17},
        "choice": {"logprobs": logprobs},
    }


def test_the_same_answer_has_the_same_ids_and_another_under_the_same_id_has_others() -> None:
    first, _ = recorded(completion({"content": "a"}))
    again, _ = recorded(ChatCompletion.model_validate(completion({"content": "a"})))
    other, _ = recorded(completion({"content": "b"}))  # servers that count to 999 and begin again
    later, _ = recorded(completion({"content": "a"}, created=1_769_860_801))
    assert first == again
    assert len({each.message_id for each in (first, other, later)}) == 3
    nameless = completion({"content": "a"}, id="")
    assert recorded(nameless)[0].message_id != recorded(nameless)[0].message_id


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_an_answer_that_was_cut_off_is_incomplete_and_its_call_completed(finish: str) -> None:
    message, called = recorded(completion({"content": "hel"}, finish))
    assert (message.status, called.status, called.finish_reason) == (
        "incomplete",
        "completed",
        finish,
    )


def test_what_an_sdk_makes_of_an_answer_is_no_part_of_it() -> None:
    said = {"content": '{"a":1}', "tool_calls": [CALL]}
    made = {"name": "look", "arguments": '{ "a":1.0}', "parsed_arguments": {"a": 1.0}}
    parsed = {**said, "parsed": {"a": 1}, "tool_calls": [{**CALL, "function": made}]}
    assert recorded(completion(parsed)) == recorded(completion(said))


def test_a_refusal_and_reasoning_of_other_servers_are_parts() -> None:
    message, _ = recorded(completion({"refusal": "no", "reasoning_content": "hm"}))
    thought, refused = message.parts
    assert isinstance(thought, ReasoningPart)
    assert (thought.text, refused) == ("hm", RefusalPart(text="no"))


def test_a_spoken_answer_is_its_transcript_and_the_sound() -> None:
    audio = {"id": "audio_1", "data": "UklGRg==", "expires_at": 1, "transcript": "hello"}
    message, _ = recorded(completion({"audio": audio}))
    spoken, sound = message.parts
    assert spoken == TextPart(text="hello")
    assert isinstance(sound, AudioPart)
    assert (sound.file_id, sound.model_extra) == ("audio_1", {"data": "UklGRg==", "expires_at": 1})


def test_custom_calls_and_the_older_function_call_are_calls() -> None:
    custom = {"id": "c-2", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}
    message, _ = recorded(completion({"tool_calls": [custom]}))
    (call,) = message.tool_calls
    assert (call.call_id, call.name, call.arguments_text) == ("c-2", "sql", "SELECT 1")
    assert call.model_extra == {"call_type": "custom"}
    older = completion({"function_call": {"name": "look", "arguments": "{}"}}, "function_call")
    (first,), (again,) = recorded(older)[0].tool_calls, recorded(older)[0].tool_calls
    assert first == again
    assert (first.name, first.call_id.startswith("call-")) == ("look", True)


def test_a_call_has_an_id_of_its_own_whatever_the_server_gives() -> None:
    nameless = {**CALL, "id": ""}
    response = completion({"tool_calls": [CALL, CALL, nameless, {**CALL, "id": "c-3"}]})
    message, _ = recorded(response, taken={"c-3"})
    given = [call.call_id for call in message.tool_calls]
    assert given == ["c-1", "c-1-2", f"call-{recorded(response)[0].message_id}", "c-3-2"]
    beside = [call.model_extra for call in message.tool_calls]
    assert beside == [
        {},
        {"provider_call_id": "c-1"},
        {"provider_call_id": ""},
        {"provider_call_id": "c-3"},
    ]


def test_usage_that_is_not_told_is_no_tokens_and_null() -> None:
    _, called = recorded(completion({"content": "a"}, usage=None))
    assert (called.input_tokens, called.output_tokens) == (0, 0)
    assert called.model_extra is not None
    assert called.model_extra["usage"] is None


def test_an_answer_that_says_nothing_is_a_message_without_parts() -> None:
    message, _ = recorded(completion({}))
    assert message.parts == []


@pytest.mark.parametrize(
    ("choices", "path"),
    [
        ([], "response.choices"),
        (None, "response.choices"),
        ([completion({"content": each})["choices"][0] for each in "ab"], "response.choices"),
        ([{"index": 0, "text": "a"}], "response.choices[0].message"),
    ],
)
def test_what_is_not_one_answer_is_refused(choices: Any, path: str) -> None:
    with pytest.raises(AppendRejected) as refused:
        recorded(completion({}) | {"choices": choices})
    assert refused.value.path == path


def test_what_an_event_cannot_hold_is_refused_with_its_place() -> None:
    usage = {"prompt_tokens": -1, "completion_tokens": 5}
    with pytest.raises(AppendRejected, match=r"response\.input_tokens: is less than 0"):
        recorded(completion({"content": "a"}, usage=usage))


@pytest.mark.parametrize("kind", ["chat.completion.chunk", "text_completion"])
def test_a_chunk_of_a_stream_and_an_older_completion_are_no_responses(kind: str) -> None:
    wrong = {"object": kind, "choices": [{"index": 0, "text": "a", "delta": {}}]}
    with pytest.raises(TypeError, match=f"object or type '{kind}' is no response"):
        _: list[Event] = recorded_response(wrong, duration_ms=1)


def test_an_answer_that_asks_for_tools_comes_back_with_its_reasoning_and_no_other_does() -> None:
    """Servers of reasoning models other than OpenAI's refuse to go on without it."""
    details = [{"type": "reasoning.encrypted", "data": "gAAA=="}]
    signed = {"google": {"thought_signature": "sig=="}}
    thought = {"reasoning": "hm", "reasoning_details": details}
    asking, _ = recorded(completion({**thought, "tool_calls": [{**CALL, "extra_content": signed}]}))
    assert [type(part) for part in asking.parts] == [ReasoningPart, ToolCallPart]
    only_details, _ = recorded(
        completion({"reasoning_details": details, "tool_calls": [{**CALL, "id": "c-2"}]})
    )
    answer, _ = recorded(completion({"reasoning_content": "so", "content": "done"}))
    done = [ToolCompleted(call_id=each, output="", duration_ms=1) for each in ("c-1", "c-2")]
    state = state_of(asking, done[0], only_details, done[1], answer)
    messages = Windows().window(state, WindowOptions()).messages
    assert [message for message in messages if message["role"] == "assistant"] == [
        {
            "role": "assistant",
            "content": None,
            "reasoning": "hm",
            "reasoning_details": details,
            "tool_calls": [{**CALL, "extra_content": signed}],
        },
        {
            "role": "assistant",
            "content": None,
            "reasoning_details": details,
            "tool_calls": [{**CALL, "id": "c-2"}],
        },
        {"role": "assistant", "content": "done"},
    ]
