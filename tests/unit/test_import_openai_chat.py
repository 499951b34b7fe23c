"""Files of chat messages as sessions: every shape, every record accounted for."""

from __future__ import annotations

import json

import pytest

from agentjournal.events import SessionStarted
from importers.imported import NotRecognised
from importers.openai_chat import read_openai_chat
from tests.chat_files import (
    HELLO,
    HI,
    MORE,
    SYSTEM,
    by_id,
    event_of,
    fields_of,
    lines,
    read,
)


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
