"""Responses of models: the message, the call of the model, and what stands beside them."""

from __future__ import annotations

import json

from agentjournal.events import MessageAdded, ModelCalled
from tests.chat_files import (
    HELLO,
    HI,
    MORE,
    by_id,
    event_of,
    fields_of,
    lines,
    read,
    response,
)


def test_a_response_adds_its_message_and_the_call_of_the_model() -> None:
    record = {
        "messages": [HI],
        "response": response("hello", system_fingerprint="fp"),
        "kwargs": {"model": "m", "temperature": 0},
        "cost": 0.0125,
        "latency_sec": 1.5,
    }
    (session,) = read(lines(record)).sessions
    called = event_of(session, ModelCalled)
    answer = [each.event for each in session.events if isinstance(each.event, MessageAdded)][1]
    assert answer.model_call_id == called.model_call_id
    assert (called.provider, called.request_model, called.response_model) == (
        "openai",
        "m",
        "m-2026",
    )
    assert (called.input_tokens, called.cache_read_input_tokens) == (12, 8)
    assert (called.output_tokens, called.reasoning_output_tokens) == (5, 2)
    assert (called.duration_ms, called.finish_reason, called.response_id) == (1500.0, "stop", "r-1")
    assert called.cost is not None
    assert (called.cost.amount, called.cost.currency) == ("0.0125", "USD")
    assert called.model_extra["system_fingerprint"] == "fp"
    assert [each.time for each in session.events if each.type == "model.called"] == [
        "2026-01-31T12:00:00.000Z"
    ]
    assert fields_of(session) == [{"kwargs": record["kwargs"], "cost": 0.0125, "latency_sec": 1.5}]


def test_a_response_alone_is_a_session_and_its_request_may_be_inside_it() -> None:
    assert by_id(read(json.dumps(response("hello")))) == {"chat": ["hello"]}
    assert by_id(read(json.dumps({"messages": [HI], **response("hello")}))) == {
        "chat": ["hi", "hello"]
    }


def test_an_answer_that_was_cut_is_incomplete() -> None:
    cut = response("hel")
    cut["choices"][0]["finish_reason"] = "length"
    (session,) = read(json.dumps(cut)).sessions
    assert event_of(session, MessageAdded).status == "incomplete"


def test_a_response_that_does_not_say_what_was_used_is_no_call_but_kept() -> None:
    (session,) = read(json.dumps(response("hello", usage=None))).sessions
    assert not [each for each in session.events if isinstance(each.event, ModelCalled)]
    (kept,) = fields_of(session)
    assert kept["response"]["model"] == "m-2026"


def test_other_choices_of_a_response_are_kept_as_they_were_written() -> None:
    answer = response("hello")
    answer["choices"].append({"index": 1, "message": {"role": "assistant", "content": "hey"}})
    found = read(json.dumps(answer))
    assert (found.report.messages, found.report.opaque) == (1, 1)


def test_what_stands_beside_the_messages_is_kept_once() -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    found = read(
        lines(
            {"messages": [HI, HELLO], "tools": tools, "timestamp": 1},
            {"messages": [HI, HELLO, MORE], "tools": tools, "timestamp": 2},
        )
    )
    assert fields_of(found.sessions[0]) == [{"tools": tools, "timestamp": 1}, {"timestamp": 2}]
