"""What is recorded of a response comes back in the window of its API, whatever the model said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from anthropic.types import Message as AnthropicMessage
from anthropic.types import MessageParam
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam
from openai.types.responses import Response, ResponseInputItemParam
from pydantic import BaseModel, TypeAdapter

from agentjournal import AppendRejected, Event, MessageAdded, ToolCompleted
from agentjournal.responses import recorded_response
from agentjournal.windows.window import WindowFormat, WindowOptions, Windows
from tests.unit.response_strategies import (
    anthropic_messages,
    chat_completions,
    json_values,
    openai_responses,
    over_the_wire,
)
from tests.unit.window_strategies import state_of

CHAT = TypeAdapter(list[ChatCompletionMessageParam])
RESPONSES = TypeAdapter(list[ResponseInputItemParam])
ANTHROPIC = TypeAdapter(list[MessageParam])
ASKED = MessageAdded(role="user", content="hi", message_id="u-1")


def recorded(response: Any, **options: Any) -> list[Event]:
    return recorded_response(response, duration_ms=12.5, **options)


def shown(form: WindowFormat, events: list[Event]) -> list[dict[str, Any]]:
    """Return the window behind a user's message, each call having a result."""
    added = events[0]
    assert isinstance(added, MessageAdded)
    results = [
        ToolCompleted(call_id=each.call_id, output="done", duration_ms=1)
        for each in added.tool_calls
    ]
    state = state_of(ASKED, *events, *results)
    return Windows().window(state, WindowOptions(format=form)).messages


def checked(types: TypeAdapter[Any], window: Any) -> None:
    """Raise ValidationError when a window is not what the SDK's types say."""
    _exhaust(types.validate_python(window))


def written(events: list[Event]) -> list[str]:
    """Return the JSON of events; the order of names says nothing."""
    return [json.dumps(json.loads(each.encoded()), sort_keys=True) for each in events]


def _exhaust(value: Any) -> None:
    if isinstance(value, Mapping):
        _exhaust(list(value.values()))
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for each in value:
            _exhaust(each)


@settings(max_examples=25)
@given(chat_completions())
def test_a_chat_completion_comes_back_byte_for_byte(response: dict[str, Any]) -> None:
    window = shown("openai-chat", recorded(over_the_wire(response)))
    checked(CHAT, window)
    message = response["choices"][0]["message"]
    expected = {"role": "assistant", "content": message["content"]}
    if "tool_calls" in message:
        expected["tool_calls"] = message["tool_calls"]
    assert window[1] == expected
    results = [each["tool_call_id"] for each in window[2:]]
    assert results == [call["id"] for call in message.get("tool_calls", [])]


@settings(max_examples=25)
@given(openai_responses())
def test_the_items_of_a_response_come_back_as_they_were(response: dict[str, Any]) -> None:
    window = shown("openai-responses", recorded(over_the_wire(response)))
    checked(RESPONSES, window)
    results = [item for item in window if item["type"].endswith("_output")]
    assert [item for item in window[1:] if item not in results] == response["output"]
    kinds = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
    assert [(item["type"], item["call_id"]) for item in results] == [
        (kinds[item["type"]], item["call_id"])
        for item in response["output"]
        if item["type"] in kinds
    ]


@settings(max_examples=25)
@given(anthropic_messages())
def test_the_blocks_of_an_anthropic_message_come_back_as_they_were(
    response: dict[str, Any],
) -> None:
    window = shown("anthropic", recorded(over_the_wire(response)))
    checked(ANTHROPIC, window)
    assert window[1] == {"role": "assistant", "content": response["content"]}


RESPONSE_TYPES: list[tuple[st.SearchStrategy[dict[str, Any]], type[BaseModel]]] = [
    (chat_completions(), ChatCompletion),
    (openai_responses(), Response),
    (anthropic_messages(), AnthropicMessage),
]


@settings(max_examples=25)
@given(st.one_of([st.tuples(drawn, st.just(kind)) for drawn, kind in RESPONSE_TYPES]))
def test_an_object_of_the_sdk_is_recorded_as_its_dict_and_again_the_same(
    drawn: tuple[dict[str, Any], type[BaseModel]],
) -> None:
    response, kind = drawn
    events = recorded(over_the_wire(response))
    for same in (kind.model_validate(response), kind.model_construct(**response)):
        assert recorded(same) == events
        assert written(recorded(same)) == written(events)  # not 1.0 for 1
    whole = kind.model_validate(response).model_dump(mode="json", by_alias=True)
    assert recorded(whole)[0].message_id == recorded(response)[0].message_id  # type: ignore[attr-defined]


@settings(max_examples=25)
@given(st.one_of([drawn for drawn, _ in RESPONSE_TYPES]))
def test_every_window_takes_what_another_api_had_answered(response: dict[str, Any]) -> None:
    events = recorded(response)
    checked(CHAT, shown("openai-chat", events))
    checked(RESPONSES, shown("openai-responses", events))
    checked(ANTHROPIC, shown("anthropic", events))


@settings(max_examples=100)
@given(st.one_of([drawn for drawn, _ in RESPONSE_TYPES]), st.data())
def test_what_is_hostile_is_recorded_or_refused_with_its_place(
    response: dict[str, Any], data: st.DataObject
) -> None:
    response = holder = over_the_wire(response)
    for _ in range(data.draw(st.integers(0, 4))):
        inner = [each for each in _inside(holder) if isinstance(each, dict | list) and each]
        if not inner:
            break
        holder = data.draw(st.sampled_from(inner))
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    holder[data.draw(st.sampled_from(keys))] = data.draw(json_values)
    try:
        events = recorded(response)
    except AppendRejected as refused:
        assert refused.path.startswith("response.")  # noqa: PT017 - both ends are right
    except TypeError as error:
        assert "is no response" in str(error)  # noqa: PT017 - both ends are right
    else:
        assert all(event.encoded() for event in events)


def _inside(holder: Any) -> list[Any]:
    return list(holder.values()) if isinstance(holder, dict) else list(holder)


@pytest.mark.parametrize("wrong", [None, "text", b"{}", 7, [], {}, {"object": "list"}])
def test_what_is_no_response_is_refused_with_what_is_one(wrong: Any) -> None:
    with pytest.raises(TypeError, match="OpenAI chat completion, an OpenAI Responses response"):
        recorded(wrong)
