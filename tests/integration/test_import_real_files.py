"""Importing real files: what is in the file is in the views."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator
from itertools import accumulate
from pathlib import Path

import pytest

from agentjournal.settings import Settings
from tests.import_command import CommandLine, command_line

pytestmark = pytest.mark.stack

REAL = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
AIRLINE = REAL / "raw" / "tau_airline_openai_chat.json"
CHATS = REAL / "sessions" / "openai-chat"


@pytest.fixture
def run(journal: Settings) -> Generator[CommandLine]:
    with command_line(journal) as run:
        yield run


def needs(path: Path) -> pytest.MarkDecorator:
    reason = f"the real sessions in {path.name} are not beside this checkout"
    return pytest.mark.skipif(not path.exists(), reason=reason)


@needs(AIRLINE)
def test_a_file_of_many_sessions_is_in_the_views_as_it_is_in_the_file(run: CommandLine) -> None:
    runs = json.loads(AIRLINE.read_bytes())
    messages = {
        f"{AIRLINE.stem}-{each['task_id']}-{each['trial']}": [
            message for message in each["traj"] if message["role"] != "tool"
        ]
        for each in runs
    }
    calls = Counter(
        (name, call["function"]["name"], call["function"]["arguments"])
        for name, said in messages.items()
        for message in said
        for call in message.get("tool_calls") or []
    )
    outputs = Counter(
        message["content"] for each in runs for message in each["traj"] if message["role"] == "tool"
    )

    account = run(AIRLINE)

    assert (account["records"], account["sessions"]) == (len(runs), len(messages))
    assert run.rows(
        "SELECT session_id, messages FROM agentjournal.sessions WHERE tenant = %(t)s ORDER BY 1"
    ) == sorted((name, len(said)) for name, said in messages.items())
    said = run.rows(
        "SELECT session_id, role, content FROM agentjournal.messages WHERE tenant = %(t)s"
        " ORDER BY session_id, version"
    )
    assert said == [
        (name, message["role"], message["content"] or "")
        for name in sorted(messages)
        for message in messages[name]
    ]
    asked = run.rows(
        "SELECT session_id, tool, arguments_text FROM agentjournal.tool_calls WHERE tenant = %(t)s"
    )
    assert Counter(asked) == calls
    given = run.rows("SELECT output FROM agentjournal.tool_calls WHERE tenant = %(t)s")
    assert Counter(output for (output,) in given) == outputs
    assert run.one(
        "SELECT count(*) FROM agentjournal.tool_calls"
        " WHERE tenant = %(t)s AND outcome = 'completed'"
    ) == sum(calls.values())


@needs(AIRLINE)
def test_a_file_that_is_imported_twice_adds_nothing(run: CommandLine) -> None:
    first = run(AIRLINE)
    count = run.events()
    second = run(AIRLINE)
    assert (second["added"], second["there"]) == (0, first["added"])
    assert run.events() == count == first["added"]


@needs(CHATS)
def test_every_real_file_is_imported(run: CommandLine) -> None:
    found = run(CHATS)
    assert len(found["files"]) == len(list(CHATS.rglob("*.json")))
    assert all(account["format"] == "openai-chat" for account in found["files"])
    assert not any(account["left_out"] or account["notes"] for account in found["files"])
    assert run.events() == sum(account["added"] for account in found["files"])
    assert run.rows(
        "SELECT model_call_id IS NOT NULL, input_tokens, output_tokens"
        " FROM agentjournal.model_calls WHERE tenant = %(t)s"
    ) == [(True, 85, 32)]
    assert run.rows(
        "SELECT call_id, outcome FROM agentjournal.tool_calls"
        " WHERE tenant = %(t)s AND session_id = 'response'"
    ) == [("call_abc123", "open")]


@needs(AIRLINE)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_of_a_file_that_is_cut_what_is_whole_is_imported_and_the_rest_later(
    run: CommandLine, tmp_path: Path, share: float
) -> None:
    raw = AIRLINE.read_bytes()
    cut = tmp_path / AIRLINE.name
    cut.write_bytes(raw[: int(len(raw) * share)])
    ends = accumulate(
        len(json.dumps(each, ensure_ascii=False).encode()) + len(", ") for each in json.loads(raw)
    )
    account = run(cut, exit_code=1)
    assert account["sessions"] == sum(end < len(raw) * share for end in ends)
    (left_out,) = account["left_out"]
    assert left_out["reason"].startswith("is not complete")
    assert left_out["offset"] + left_out["size"] == int(len(raw) * share)

    cut.write_bytes(raw)
    assert run(cut)["there"] == account["added"]
    assert run.one("SELECT count(*) FROM agentjournal.sessions WHERE tenant = %(t)s") == 25
