"""Files of chat messages as sessions: every shape, every record accounted for, nothing twice."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from agentjournal.events import CustomEvent, Event, MessageAdded, ModelCalled, SessionStarted
from importers.imported import Imported, ImportedSession, NotRecognised
from importers.openai_chat import read_openai_chat
from importers.planning import Differs, Held, remaining

HI = {"role": "user", "content": "hi"}
HELLO = {"role": "assistant", "content": "hello"}
MORE = {"role": "user", "content": "more"}
SYSTEM = {"role": "system", "content": "be kind"}


def read(raw: bytes | str, *, user: str | None = None) -> Imported:
    raw = raw.encode() if isinstance(raw, str) else raw
    found = read_openai_chat(raw, name="chat", source="chat.jsonl", user=user)
    assert isinstance(found, Imported), found
    return found


def lines(*values: Any) -> str:
    return "\n".join(json.dumps(value) for value in values) + "\n"


def said(session: ImportedSession) -> list[str]:
    messages = [each.event for each in session.events]
    return [message.text for message in messages if isinstance(message, MessageAdded)]


def by_id(found: Imported) -> dict[str, list[str]]:
    return {session.session_id: said(session) for session in found.sessions}


def event_of(session: ImportedSession, kind: type[Event]) -> Any:
    return next(each.event for each in session.events if isinstance(each.event, kind))


def fields_of(session: ImportedSession) -> list[Mapping[str, Any]]:
    found = [each.event for each in session.events if each.type == "custom.import.fields"]
    return [event.fields["fields"] for event in found if isinstance(event, CustomEvent)]


def response(text: str, response_id: str | None = "r-1", **fields: Any) -> dict[str, Any]:
    return {
        **({} if response_id is None else {"id": response_id}),
        "object": "chat.completion",
        "created": 1_769_860_800,
        "model": "m-2026",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 12,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 8},
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
        **fields,
    }


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([HI, HELLO]),
        json.dumps([HI, HELLO], indent=2),
        json.dumps({"messages": [HI, HELLO]}),
        json.dumps({"traj": [HI, HELLO]}, indent=1),
        lines(HI, HELLO),
        lines({"messages": [HI, HELLO]}),
        lines([HI, HELLO]),
        json.dumps([[HI, HELLO]]),
        json.dumps(HI) + json.dumps(HELLO),
        "\ufeff" + json.dumps([HI, HELLO]),
    ],
)
def test_every_shape_of_one_conversation_is_one_session_named_for_its_file(text: str) -> None:
    found = read(text)
    assert by_id(found) == {"chat": ["hi", "hello"]}
    assert (found.report.sessions, found.report.messages) == (1, 2)
    assert not found.report.left_out


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{"messages": [HI, HELLO]}, {"messages": [MORE]}]),
        lines({"messages": [HI, HELLO]}, {"messages": [MORE]}),
        lines([HI, HELLO], [MORE]),
        json.dumps([[HI, HELLO], [MORE]], indent=1),
    ],
)
def test_several_sessions_of_a_file_are_named_for_their_place(text: str) -> None:
    assert by_id(read(text)) == {"chat-1": ["hi", "hello"], "chat-2": ["more"]}


def test_a_task_is_told_apart_by_its_trial() -> None:
    runs = [
        {"task_id": 0, "trial": 0, "reward": 1.0, "info": {"x": 1}, "traj": [HI]},
        {"task_id": 0, "trial": 1, "reward": 0.0, "info": {"x": 2}, "traj": [HI]},
        {"task_id": 1, "trial": 0, "reward": 0.5, "info": {"x": 3}, "traj": [HI]},
    ]
    found = read(json.dumps(runs))
    assert list(by_id(found)) == ["chat-0-0", "chat-0-1", "chat-1-0"]
    assert fields_of(found.sessions[1]) == [
        {"task_id": 0, "trial": 1, "reward": 0.0, "info": {"x": 2}}
    ]


def test_the_same_task_and_trial_with_another_course_is_another_session() -> None:
    found = read(lines({"task_id": 7, "traj": [HI]}, {"task_id": 7, "traj": [MORE]}))
    assert by_id(found) == {"chat-7": ["hi"], "chat-7-2": ["more"]}
    assert found.report.notes == ["record 2 does not go on with session 7: it is session 7-2"]


@pytest.mark.parametrize("name", ["session_id", "conversation_id", "thread_id", "chat_id"])
def test_a_session_that_the_file_names_has_that_name(name: str) -> None:
    found = read(lines({name: "b", "messages": [HI]}, {name: "a", "messages": [HI]}))
    assert list(by_id(found)) == ["chat-b", "chat-a"]


def test_a_session_begins_with_where_it_comes_from() -> None:
    (session,) = read(
        lines(SYSTEM, {"role": "user", "content": "\n  Hi there \n and more"})
    ).sessions
    assert session.events[0].event == SessionStarted(
        agent="import",
        title="Hi there",
        labels={"source": "chat.jsonl", "native_key": "1", "format": "openai-chat"},
    )


def test_a_session_belongs_to_the_user_that_was_given() -> None:
    (session,) = read(lines(HI), user="ann").sessions
    (other,) = read(lines(HI), user="bob").sessions
    assert event_of(session, SessionStarted).user == "ann"
    assert session.events[0].id != other.events[0].id


def test_a_session_id_that_would_be_too_long_stays_unique() -> None:
    keys = ["k" * 300 + end for end in ("a", "b")]
    found = read(lines(*({"session_id": key, "messages": [HI]} for key in keys)))
    first, second = (session.session_id for session in found.sessions)
    assert (len(first), len(second)) == (255, 255)
    assert first != second


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


def test_records_that_hold_no_messages_are_left_out_by_name() -> None:
    text = lines({"messages": [HI]}, {"other": 1}, {"messages": []}, 7)
    found = read(text)
    assert [(each.place, each.offset, each.reason) for each in found.report.left_out] == [
        ("record 2", text.index('{"other"'), "holds no chat messages"),
        ("record 3", text.index('{"messages": []'), "holds no chat messages"),
        ("record 4", text.index("7"), "holds no chat messages"),
    ]


def test_what_is_broken_is_named_with_its_place_and_the_rest_is_imported() -> None:
    text = lines({"messages": [HI]}) + "garbage\n" + lines({"messages": [MORE]}) + '{"messages": ['
    found = read(text)
    assert by_id(found) == {"chat-1": ["hi"], "chat-3": ["more"]}
    garbage, cut = found.report.left_out
    assert (garbage.place, garbage.offset, garbage.size) == ("record 2", text.index("garbage"), 8)
    assert garbage.reason.startswith("is not JSON")
    assert (cut.place, cut.offset, cut.size) == ("record 4", len(text) - 14, 14)
    assert cut.reason.startswith("is not complete")


def test_bytes_that_are_no_utf_8_are_replaced_and_reported() -> None:
    found = read(b'[{"role": "user", "content": "a\xff\xfeb"}]')
    assert by_id(found) == {"chat": ["a\ufffd\ufffdb"]}
    assert found.report.notes == ["2 bytes are no UTF-8, the first at byte 31: each became U+FFFD"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "# a page",
        "[]",
        "{}",
        "7",
        '{"messages": []}',
        '[{"type": "message", "role": "user", "content": "hi"}]',
        '[{"role": "user", "content": "hi"}, {"type": "function_call", "call_id": "c"}]',
        '{"type": "user", "message": {"role": "user", "content": "hi"}, "sessionId": "s"}',
        '{"sessionId": "s", "messages": [{"type": "user", "content": "hi"}]}',
        '{"messages": [{"role": "user", "contents": []}]}',
        '[{"task_id": 1, "traj": [{"role": "user", "con',
    ],
)
def test_other_files_are_not_recognised_and_it_is_said_what_was_expected(text: str) -> None:
    found = read_openai_chat(text.encode(), name="chat", source="chat.json")
    assert isinstance(found, NotRecognised)
    assert "expected OpenAI chat messages" in found.reason


CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
GROWING = {
    "messages one a line": lines(
        SYSTEM, HI, {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c", "content": "é€😀"}, {"odd": 1}, HELLO,
    ),
    "a list of messages": json.dumps([SYSTEM, HI, HELLO, MORE]),
    "an object": json.dumps({"messages": [SYSTEM, HI, HELLO, MORE], "at": 3}, indent=2),
    "sessions one a line": lines(
        {"messages": [HI, HELLO]}, {"messages": [MORE], "n": 2}, {"messages": [SYSTEM, HI]}
    ),
    "a list of sessions": json.dumps([
        {"task_id": 1, "traj": [HI], "trial": 0}, {"task_id": 1, "traj": [MORE], "trial": 1},
    ]),
    "a log of requests": lines(
        {"messages": [HI], "response": response("hello", "r-1"), "cost": 1},
        {"messages": [HI, HELLO, MORE], "response": response("yes", "r-2"), "cost": 2},
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", GROWING.values(), ids=GROWING.keys())
def test_a_file_that_grew_by_any_number_of_bytes_only_adds_to_what_it_had(text: str) -> None:
    raw = text.encode()
    whole = read(raw)
    for length in range(len(raw)):
        begun = read_openai_chat(raw[:length], name="chat", source="chat.jsonl")
        held: dict[str, list[Held]] = {}
        for session in begun.sessions if isinstance(begun, Imported) else ():
            held[session.session_id] = [Held(each.id, each.type) for each in session.events]
        for session in whole.sessions:
            there = held.pop(session.session_id, None) or held.pop(session.earlier_id or "", [])
            rest = remaining(session.events, there)
            assert not isinstance(rest, Differs), (length, session.session_id)
            assert len(rest) + len(there) >= len(session.events)
        assert not held, length


def _items(found: Imported) -> int:
    report = found.report
    return report.messages + report.results + report.opaque + report.repeated


@pytest.mark.parametrize("text", GROWING.values(), ids=GROWING.keys())
def test_every_message_of_a_file_is_accounted_for(text: str) -> None:
    values: Sequence[Any] = [json.loads(line) for line in text.splitlines()] if (
        text.count("\n") > 1 and not text.startswith("{\n")
    ) else [json.loads(text)]  # fmt: skip
    values = values[0] if isinstance(values[0], list) else values
    messages = sum(
        len(value.get("messages", value.get("traj", [0]))) + ("response" in value)
        for value in values
    )
    assert _items(read(text)) == messages
