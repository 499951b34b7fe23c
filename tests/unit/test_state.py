"""The state of a session: what its events come to, exactly as they were written."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentjournal import (
    ConversationRewound,
    CustomEvent,
    Event,
    MessageAdded,
    MessageRetracted,
    ReasoningPart,
    SessionDeleted,
    SessionEnded,
    SessionExpired,
    SessionResumed,
    SessionStarted,
    SessionState,
    SessionUpdated,
    TextPart,
    ToolCallPart,
    ToolCompleted,
    ToolFailed,
    ToolFailure,
    ToolSettled,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from agentjournal.turns import inbox
from tests.support import Stream, message, request, typed
from tests.unit.event_strategies import values


def state_of(*events: Event) -> SessionState:
    stream = Stream()
    for each in events:
        stream.accept(request(typed(each)))
    state = SessionState(stream.stream)
    for recorded in stream.recorded:
        state.apply(recorded)
    return state


def asking(*call_ids: str) -> MessageAdded:
    calls = [ToolCallPart(call_id=c, name=f"tool-{c}", arguments_text='{"n": 1}') for c in call_ids]
    return MessageAdded(role="assistant", parts=[*calls], message_id=f"m-{'-'.join(call_ids)}")


def begun(call_id: str = "c", attempt: int = 1) -> ToolStarted:
    return ToolStarted(
        call_id=call_id,
        tool="refund",
        arguments_text='{"order": 7}',
        arguments_digest="d",
        effect="external",
        idempotency_key=f"k-{attempt}",
        attempt=attempt,
        lease_s=60,
    )


def completed(call_id: str = "c", attempt: int = 1, output: Any = "done", **more: Any) -> Event:
    return ToolCompleted(call_id=call_id, attempt=attempt, output=output, duration_ms=1, **more)


FAILURE = ToolFailure(type="timeout", message="too late", retryable=True)


def failed(call_id: str = "c", attempt: int = 1) -> Event:
    return ToolFailed(call_id=call_id, attempt=attempt, error=FAILURE)


def test_a_session_without_events_is_at_version_0() -> None:
    state = SessionState(Stream().stream)
    assert (state.version, state.messages, state.open_calls, state.status) == (0, [], [], "open")


def test_version_and_hash_are_those_of_the_last_event() -> None:
    stream = Stream()
    stream.accept(request(typed(message("a")), typed(message("b"))))
    state = SessionState(stream.stream)
    for recorded in stream.recorded:
        state.apply(recorded)
    assert (state.version, state.hash) == (2, stream.recorded[-1].hash)


def test_the_start_says_whose_it_is_and_updates_the_title() -> None:
    state = state_of(SessionStarted(user="u-7", agent="support", title="one"))
    assert (state.user, state.agent, state.title) == ("u-7", "support", "one")
    renamed = [SessionUpdated(title="two"), SessionUpdated(labels={})]
    assert state_of(SessionStarted(agent="a", title="one"), *renamed).title == "two"


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([], "open"),
        ([SessionEnded(reason="solved")], "ended"),
        ([SessionExpired(idle_s=1)], "expired"),
        ([SessionEnded(reason=None), SessionResumed(worker=None)], "open"),
        ([SessionDeleted(reason="asked for")], "deleted"),
    ],
)
def test_the_status_follows_the_session(events: list[Event], status: str) -> None:
    assert state_of(message("a"), *events).status == status


def test_messages_stand_in_order_with_their_versions_and_turns() -> None:
    state = state_of(
        message("a"),
        TurnStarted(turn_id="t-1", trigger="user", input_versions=[1]),
        MessageAdded(role="assistant", content="b", message_id="m-b", status="incomplete"),
        TurnEnded(turn_id="t-1", reason="completed"),
        message("c"),
    )
    assert [(m.text, m.role, m.version, m.turn_id, m.status) for m in state.messages] == [
        ("a", "user", 1, None, "complete"),
        ("b", "assistant", 3, "t-1", "incomplete"),
        ("c", "user", 5, None, "complete"),
    ]
    assert state.turn_id is None


def test_only_the_turn_that_is_open_can_end() -> None:
    one = TurnStarted(turn_id="t-1", trigger="user", input_versions=[])
    assert state_of(one, TurnEnded(turn_id="t-0", reason="completed")).turn_id == "t-1"


def test_a_retracted_message_stays_and_says_so() -> None:
    state = state_of(message("a"), message("b"), MessageRetracted(message_id="m-a", reason="r"))
    assert [(m.text, m.status) for m in state.messages] == [("a", "retracted"), ("b", "complete")]


def test_parts_are_kept_exactly_and_in_order() -> None:
    thought = ReasoningPart(provider="openai", text="hm", signature="sig=", id="r-1")
    call = ToolCallPart(call_id="c", name="f", arguments_text='{ "a" :1}')
    said = MessageAdded(role="assistant", parts=[thought, TextPart(text="x"), call])
    [found] = state_of(said).messages
    assert found.parts == [thought, TextPart(text="x"), call]
    assert found.tool_calls == [call]


@given(st.text(st.characters() | st.sampled_from("\0\ud800\udfff😀"), max_size=8))
def test_text_comes_back_exactly_nul_and_lone_surrogates_too(text: str) -> None:
    [found] = state_of(MessageAdded(role="user", content=text)).messages
    assert found.text == text


@given(values)
def test_a_result_comes_back_exactly(value: Any) -> None:
    [call] = state_of(completed(result=value)).calls.values()
    assert ascii(call.result) == ascii(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.0, 2**200, b"\0", {"$int": "1"}, True])
def test_the_result_keeps_its_type(value: Any) -> None:
    [call] = state_of(completed(result=value)).calls.values()
    assert (type(call.result), repr(call.result)) == (type(value), repr(value))


def test_calls_are_open_from_the_request_to_the_outcome() -> None:
    asked = state_of(asking("c", "d"))
    assert [c.call_id for c in asked.open_calls] == ["c", "d"]
    assert [c.call_id for c in state_of(asking("c", "d"), begun(), completed()).open_calls] == ["d"]
    assert state_of(asking("c"), failed()).open_calls == []


def test_parallel_calls_may_end_in_any_order() -> None:
    state = state_of(
        asking("c", "d", "e"),
        begun("e"),
        begun("c"),
        completed("e", output="third"),
        begun("d"),
        failed("c"),
    )
    assert [(c.call_id, c.outcome, c.output) for c in state.calls.values()] == [
        ("c", "failed", None),
        ("d", "open", None),
        ("e", "completed", "third"),
    ]


def test_a_started_call_says_how_it_was_started() -> None:
    [call] = state_of(asking("c"), begun()).calls.values()
    assert (call.tool, call.arguments, call.effect) == ("refund", {"order": 7}, "external")
    assert (call.idempotency_key, call.attempt) == ("k-1", 1)
    assert (call.version, call.started_version, call.ended_version) == (1, 2, None)


def test_a_new_attempt_opens_a_failed_call_again() -> None:
    [call] = state_of(begun(), failed(), begun(attempt=2)).calls.values()
    assert (call.outcome, call.attempt, call.idempotency_key, call.error) == (
        *("open", 2, "k-2"),
        None,
    )
    assert state_of(begun(), failed(), begun(attempt=2), completed(attempt=2)).open_calls == []


def test_the_first_outcome_of_an_attempt_stands() -> None:
    [call] = state_of(begun(), completed(), failed()).calls.values()
    assert (call.outcome, call.output, call.error, call.ended_version) == (
        "completed",
        "done",
        None,
        2,
    )


def test_a_completed_call_is_not_opened_again_whatever_is_written_later() -> None:
    done = state_of(begun(), completed()).calls
    for late in ([begun(attempt=2)], [begun(attempt=2), failed(attempt=2)], [completed(attempt=2)]):
        assert state_of(begun(), completed(), *late).calls == done
    settled = ToolSettled(call_id="c", outcome="completed", settled_by="person")
    [call] = state_of(settled, begun(), failed()).calls.values()
    assert (call.outcome, call.attempt) == ("completed", 0)


def test_an_outcome_of_an_earlier_attempt_comes_too_late() -> None:
    [call] = state_of(begun(), begun(attempt=2), completed(attempt=1)).calls.values()
    assert (call.outcome, call.attempt) == ("open", 2)


def test_a_verifier_settles_the_current_attempt() -> None:
    settled = ToolSettled(call_id="c", outcome="failed", error=FAILURE, settled_by="verifier")
    [call] = state_of(begun(), begun(attempt=2), settled).calls.values()
    assert (call.outcome, call.attempt, call.error) == ("failed", 2, FAILURE)
    [call] = state_of(begun(), completed(), settled).calls.values()
    assert call.outcome == "completed"


def test_an_outcome_of_a_call_that_nobody_asked_for_is_kept() -> None:
    [call] = state_of(completed("z")).calls.values()
    assert (call.call_id, call.outcome, call.tool) == ("z", "completed", "")


def test_arguments_that_are_no_json_are_kept_and_said_to_be_none() -> None:
    part = ToolCallPart(call_id="c", name="f", arguments_text='{"a": ')
    [call] = state_of(MessageAdded(role="assistant", parts=[part])).calls.values()
    assert call.arguments_text == '{"a": '
    with pytest.raises(ValueError, match="unexpected end"):
        _ = call.arguments


def test_an_event_of_another_kind_only_moves_the_version() -> None:
    state = state_of(message("a"), CustomEvent("custom.x", {"any": 1}))
    assert (state.version, len(state.messages), state.calls) == (2, 1, {})


def turn_of(nth: int, status: Any = "complete") -> list[Event]:
    """Return a turn of four events, that a message of the user begins with."""
    asked = MessageAdded(role="user", content=f"question {nth}", message_id=f"q-{nth}")
    answer = MessageAdded(role="assistant", content="so", message_id=f"a-{nth}", status=status)
    begun = TurnStarted(turn_id=f"t-{nth}", trigger="user", input_versions=[4 * nth + 1])
    return [asked, begun, answer, TurnEnded(turn_id=f"t-{nth}", reason="completed")]


@pytest.mark.parametrize(
    ("to_version", "left"),
    [(16, []), (13, [13]), (12, []), (9, [9]), (8, []), (5, [5]), (4, []), (1, [1]), (0, [])],
)
def test_a_rewind_leaves_to_be_answered_what_has_no_answer_behind_it(
    to_version: int, left: list[int]
) -> None:
    talk = [event for nth in range(4) for event in turn_of(nth)]
    state = state_of(*talk, ConversationRewound(to_version=to_version, reason="edited"))
    assert [message.version for message in inbox(state)] == left


def test_an_answer_that_is_not_whole_or_was_taken_back_is_none_behind_a_rewind() -> None:
    cut_off = [*turn_of(0), *turn_of(1, "incomplete")]
    state = state_of(*cut_off, ConversationRewound(to_version=8, reason="again"))
    assert [message.version for message in inbox(state)] == [5]
    taken_back = [*turn_of(0), MessageRetracted(message_id="a-0", reason="wrong")]
    assert inbox(state_of(*taken_back)) == []
    state = state_of(*taken_back, ConversationRewound(to_version=5, reason="again"))
    assert [message.version for message in inbox(state)] == [1]
