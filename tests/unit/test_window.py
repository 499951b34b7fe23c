"""The window: the conversation as a model's API takes it, whatever was recorded between."""

from __future__ import annotations

from typing import Any

import pytest

from agentjournal import (
    Event,
    ImagePart,
    MessageAdded,
    MessageRetracted,
    RefusalPart,
    SessionStarted,
    SessionState,
    TextPart,
    ToolCallPart,
    ToolCompleted,
    ToolFailed,
    ToolFailure,
    ToolStarted,
)
from agentjournal.windows.conversation import NO_RESULT
from agentjournal.windows.window import Window, WindowOptions, Windows
from tests.support import Stream, message, request, typed


def window_of(*events: Event) -> Window:
    stream = Stream()
    for each in events:
        stream.accept(request(typed(each)))
    state = SessionState(stream.stream)
    for recorded in stream.recorded:
        state.apply(recorded)
    return Windows().window(state, WindowOptions())


def call(call_id: str) -> ToolCallPart:
    return ToolCallPart(call_id=call_id, name="f", arguments_text='{ "a":1 }')


def asking(*call_ids: str) -> MessageAdded:
    calls = [call(call_id) for call_id in call_ids]
    return MessageAdded(role="assistant", parts=[*calls], message_id=f"m-{'-'.join(call_ids)}")


def completed(call_id: str, output: Any = "done") -> ToolCompleted:
    return ToolCompleted(call_id=call_id, output=output, duration_ms=1)


def tool(call_id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def asked(*call_ids: str) -> dict[str, Any]:
    calls = [
        {"id": c, "type": "function", "function": {"name": "f", "arguments": '{ "a":1 }'}}
        for c in call_ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_a_conversation_is_shown_in_its_order() -> None:
    window = window_of(
        SessionStarted(agent="a"),
        MessageAdded(role="system", content="be kind"),
        MessageAdded(role="user", content="hi", name="ada"),
        MessageAdded(role="assistant", content="hello"),
    )
    assert window.version == 4
    assert window.messages == [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "hi", "name": "ada"},
        {"role": "assistant", "content": "hello"},
    ]


def test_a_result_follows_its_call() -> None:
    window = window_of(message("go"), asking("c"), completed("c"), message("thanks"))
    assert window.messages == [user("go"), asked("c"), tool("c", "done"), user("thanks")]


def test_parallel_calls_have_their_results_in_the_order_of_the_calls() -> None:
    window = window_of(asking("c", "d"), completed("d", "second"), completed("c", "first"))
    assert window.messages == [asked("c", "d"), tool("c", "first"), tool("d", "second")]


def test_what_the_user_says_while_a_tool_runs_comes_behind_its_result() -> None:
    window = window_of(asking("c"), message("hurry"), completed("c"))
    assert window.messages == [asked("c"), tool("c", "done"), user("hurry")]


def test_a_call_without_a_result_has_a_marked_placeholder() -> None:
    window = window_of(asking("c", "d"), completed("d"), message("well?"))
    assert window.messages == [
        asked("c", "d"),
        tool("c", NO_RESULT),
        tool("d", "done"),
        user("well?"),
    ]
    assert "not known" in NO_RESULT


def test_a_result_of_a_call_that_the_model_did_not_make_is_left_out() -> None:
    assert window_of(message("a"), completed("z")).messages == [user("a")]


def test_a_failure_is_shown_as_what_the_model_was_to_see() -> None:
    error = ToolFailure(type="error", message="no such order", retryable=False)
    shown = ToolFailed(call_id="c", error=error, output="The order does not exist.")
    bare = ToolFailed(call_id="d", error=error)
    window = window_of(asking("c", "d"), shown, bare)
    assert window.messages[1:] == [
        tool("c", "The order does not exist."),
        tool("d", "Error: no such order"),
    ]


def test_a_call_that_is_tried_again_shows_what_came_of_the_last_attempt() -> None:
    error = ToolFailure(type="error", message="busy", retryable=True)
    again = ToolStarted(
        call_id="c",
        tool="f",
        arguments_text="{}",
        arguments_digest="d",
        effect="read",
        idempotency_key="k",
        attempt=2,
        lease_s=1,
    )
    failed = ToolFailed(call_id="c", attempt=1, error=error)
    assert window_of(asking("c"), failed, again).messages[1:] == [tool("c", NO_RESULT)]
    done = ToolCompleted(call_id="c", attempt=2, output="done", duration_ms=1)
    assert window_of(asking("c"), failed, again, done).messages[1:] == [tool("c", "done")]


def test_a_retracted_message_is_left_out_with_its_results() -> None:
    window = window_of(
        message("a"), asking("c"), completed("c"), MessageRetracted(message_id="m-c", reason="r")
    )
    assert window.messages == [user("a")]


@pytest.mark.parametrize(
    ("output", "content"),
    [("", ""), ([], ""), ([TextPart(text="a"), TextPart(text="b")], "a\nb")],
)
def test_output_is_shown_as_text(output: Any, content: str) -> None:
    assert window_of(asking("c"), completed("c", output)).messages[1:] == [tool("c", content)]


def test_text_beside_calls_is_kept() -> None:
    said = MessageAdded(role="assistant", parts=[TextPart(text="wait"), call("c")])
    assert window_of(said, completed("c")).messages[0] == {**asked("c"), "content": "wait"}


def test_a_refusal_has_a_field_of_its_own() -> None:
    said = MessageAdded(role="assistant", parts=[RefusalPart(text="I will not.")])
    assert window_of(said).messages == [
        {"role": "assistant", "content": "", "refusal": "I will not."}
    ]


def test_images_are_shown_beside_the_text() -> None:
    image = ImagePart(media_type="image/png", uri="https://example.org/a.png")
    said = MessageAdded(role="user", parts=[TextPart(text="what is this?"), image])
    assert window_of(said).messages == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "what is this?"},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            ],
        }
    ]


def test_text_is_shown_exactly() -> None:
    for text in ("a\0b", "\ud800", "é😀", " \n"):
        assert window_of(MessageAdded(role="user", content=text)).messages == [user(text)]
