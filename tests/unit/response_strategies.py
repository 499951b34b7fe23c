"""Responses of the three APIs as they come over the wire, for tests of what is recorded of them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

WORDS = ["refund", "order 48213", "fine", "Grüße", "a\nb", "⛄", '"']
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
numbers = st.integers(0, 10**6)
names = st.sampled_from(["look", "refund", "search_web"])
ids = st.text("abcdef0123456789", min_size=6, max_size=12)
# A model writes its JSON as it likes: spaces, escapes, numbers that a parser would not give back.
ARGUMENTS = ["{}", '{ "order" : 48213 }', '{"a":1.10,"b":"\\u00e9"}', '{"broken": ', "", '"text"']
arguments = st.sampled_from(ARGUMENTS)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e6, 1e6) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(names, json_values, max_size=3)


@st.composite
def chat_completions(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an OpenAI chat completion."""
    calls = [draw(_chat_calls(number)) for number in range(draw(st.integers(0, 3)))]
    content = draw(texts if not calls else st.none() | texts)
    message: dict[str, Any] = {
        "role": "assistant",
        "content": content,
        "refusal": None,
        "annotations": [],
        **({"tool_calls": calls} if calls else {}),
    }
    finish = draw(st.sampled_from(["stop", "length", "tool_calls", "content_filter"]))
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    cached, prompt = sorted([draw(numbers), draw(numbers)])
    reasoned, completion = sorted([draw(numbers), draw(numbers)])
    return {
        "id": f"chatcmpl-{draw(ids)}",
        "object": "chat.completion",
        "created": 1_769_860_800,
        "model": "gpt-5-2026-01-31",
        "choices": [choice],
        "service_tier": "default",
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": reasoned},
        },
    }


@st.composite
def _chat_calls(draw: st.DrawFn, number: int) -> dict[str, Any]:
    call_id = f"call_{number}_{draw(ids)}"
    if draw(st.booleans()):
        custom = {"name": draw(names), "input": draw(texts)}
        return {"id": call_id, "type": "custom", "custom": custom}
    function = {"name": draw(names), "arguments": draw(arguments)}
    return {"id": call_id, "type": "function", "function": function}


@st.composite
def openai_responses(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a response of the OpenAI Responses API."""
    drawn = [_item(draw, number) for number in range(draw(st.integers(1, 5)))]
    return {
        "id": f"resp_{draw(ids)}",
        "object": "response",
        "created_at": 1_769_860_800,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": "be kind",
        "metadata": {},
        "model": "gpt-5-2026-01-31",
        "output": drawn,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": 120,
            "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 8},
            "output_tokens": 40,
            "output_tokens_details": {"reasoning_tokens": 30},
            "total_tokens": 160,
        },
    }


def _item(draw: st.DrawFn, number: int) -> dict[str, Any]:
    kind = draw(st.sampled_from(list(_ITEMS)))
    item: dict[str, Any] = draw(_ITEMS[kind])
    return {**item, "id": f"{kind}_{number}"} | (
        {"call_id": f"call_{number}"} if kind in {"fc", "ctc"} else {}
    )


_URL = {
    "type": "url_citation",
    "url": "https://x.example/",
    "title": "x",
    "start_index": 0,
    "end_index": 1,
}
_PIECES = st.one_of(
    st.fixed_dictionaries(
        {
            "type": st.just("output_text"),
            "text": texts,
            "annotations": st.sampled_from([[], [_URL]]),
        }
    ),
    st.fixed_dictionaries({"type": st.just("refusal"), "refusal": texts}),
)
_SUMMARIES = st.fixed_dictionaries({"type": st.just("summary_text"), "text": texts | st.just("")})
_ITEMS: dict[str, st.SearchStrategy[Any]] = {
    "msg": st.fixed_dictionaries(
        {
            "type": st.just("message"),
            "role": st.just("assistant"),
            "status": st.just("completed"),
            "content": st.lists(_PIECES, min_size=1, max_size=3),
        },
        optional={"phase": st.sampled_from(["commentary", "final_answer"])},
    ),
    "rs": st.fixed_dictionaries(
        {
            "type": st.just("reasoning"),
            "summary": st.lists(_SUMMARIES, max_size=3),
        },
        optional={
            "encrypted_content": st.just("gAAAAB=="),
            "content": st.just([{"type": "reasoning_text", "text": "hm"}]),
        },
    ),
    "fc": st.fixed_dictionaries(
        {
            "type": st.just("function_call"),
            "name": names,
            "arguments": arguments,
            "status": st.just("completed"),
        }
    ),
    "ctc": st.fixed_dictionaries(
        {"type": st.just("custom_tool_call"), "name": names, "input": texts}
    ),
    "ws": st.just(
        {
            "type": "web_search_call",
            "status": "completed",
            "action": {"type": "search", "query": "x"},
        }
    ),
}


@st.composite
def anthropic_messages(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an Anthropic message."""
    content = [draw(_blocks(number)) for number in range(draw(st.integers(1, 5)))]
    return {
        "id": f"msg_{draw(ids)}",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-5",
        "content": content,
        "stop_reason": draw(st.sampled_from(["end_turn", "tool_use", "max_tokens"])),
        "stop_sequence": None,
        "usage": {
            "input_tokens": 20,
            "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 7,
            "output_tokens": 40,
            "output_tokens_details": {"thinking_tokens": 30},
        },
    }


_CITATION = {
    "type": "web_search_result_location",
    "cited_text": "x",
    "encrypted_index": "Eo8B",
    "title": "x",
    "url": "https://x.example/",
}


def _blocks(number: int) -> st.SearchStrategy[dict[str, Any]]:
    tool = {"type": st.just("tool_use"), "id": st.just(f"toolu_{number}"), "name": names}
    search = {"type": "server_tool_use", "id": f"srvtoolu_{number}", "name": "web_search"}
    found = {"type": "web_search_tool_result", "tool_use_id": f"srvtoolu_{number}", "content": []}
    return st.one_of(
        st.fixed_dictionaries({"type": st.just("text"), "text": texts}),
        st.fixed_dictionaries(
            {"type": st.just("text"), "text": texts, "citations": st.just([_CITATION])}
        ),
        st.fixed_dictionaries({"type": st.just("thinking"), "thinking": texts, "signature": ids}),
        st.fixed_dictionaries({"type": st.just("redacted_thinking"), "data": ids}),
        st.fixed_dictionaries({**tool, "input": objects}),
        st.fixed_dictionaries({**tool, "input": objects, "caller": st.just({"type": "direct"})}),
        st.just({**search, "input": {"query": "x"}}),
        st.just(found),
    )


def over_the_wire(value: Any) -> Any:
    """Return `value` as a client gets it."""
    return json.loads(json.dumps(value))
