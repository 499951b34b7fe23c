"""Records of successive requests as one session: what they repeat is not added again."""

from __future__ import annotations

from tests.chat_files import (
    HELLO,
    HI,
    MORE,
    SYSTEM,
    by_id,
    lines,
    read,
    response,
)


def test_the_same_task_and_trial_with_another_course_is_another_session() -> None:
    found = read(lines({"task_id": 7, "traj": [HI]}, {"task_id": 7, "traj": [MORE]}))
    assert by_id(found) == {"chat-7": ["hi"], "chat-7-2": ["more"]}
    assert found.report.notes == ["record 2 does not go on with session 7: it is session 7-2"]


def test_a_log_of_requests_that_repeat_what_was_said_is_one_session() -> None:
    found = read(
        lines(
            {"messages": [SYSTEM, HI], "response": response("hello", "r-1"), "cost": 0.0125},
            {"messages": [SYSTEM, HI, HELLO, MORE], "response": response("yes", "r-2"), "n": 1},
        )
    )
    assert by_id(found) == {"chat": ["be kind", "hi", "hello", "more", "yes"]}
    assert (found.report.records, found.report.repeated) == (2, 3)
    assert found.report.model_calls == 2


def test_a_repeat_may_be_written_in_another_way() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    answer = response("", "r-1")
    answer["choices"][0]["message"] = {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "tool_calls": [call],
    }
    repeated = [
        {"content": [{"type": "text", "text": "hi", "cache_control": {}}], "role": "user"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
    ]
    found = read(lines({"messages": [HI], "response": answer}, {"messages": repeated}))
    assert (found.report.sessions, found.report.repeated, found.report.results) == (1, 2, 1)


def test_the_same_instructions_do_not_make_one_conversation() -> None:
    found = read(lines({"messages": [SYSTEM]}, {"messages": [SYSTEM, HI]}))
    assert len(found.sessions) == 2


def test_another_course_after_the_same_beginning_is_another_session() -> None:
    found = read(lines({"messages": [HI, HELLO, MORE]}, {"messages": [HI, HELLO, HI]}))
    assert by_id(found) == {"chat-1": ["hi", "hello", "more"], "chat-2": ["hi", "hello", "hi"]}


def test_a_second_answer_to_the_same_request_is_another_session() -> None:
    found = read(
        lines(
            {"messages": [HI], "response": response("hello", "r-1")},
            {"messages": [HI], "response": response("good day", "r-2")},
        )
    )
    assert by_id(found) == {"chat-1": ["hi", "hello"], "chat-2": ["hi", "good day"]}


def test_a_record_that_says_nothing_new_adds_nothing_and_is_counted() -> None:
    record = {"messages": [HI], "response": response("hello")}
    found = read(lines(record, record, {"messages": [HI]}))
    assert by_id(found) == {"chat": ["hi", "hello"]}
    assert (found.report.records, found.report.repeated) == (3, 3)
    assert found.report.model_calls == 1


def test_sessions_with_names_of_their_own_never_meet() -> None:
    found = read(
        lines({"thread_id": "a", "messages": [HI]}, {"thread_id": "b", "messages": [HI, HELLO]})
    )
    assert by_id(found) == {"chat-a": ["hi"], "chat-b": ["hi", "hello"]}
