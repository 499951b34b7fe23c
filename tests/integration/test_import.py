"""Importing files into a running log: all that is whole, once, and nothing is overwritten."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

import agentjournal as aj
from agentjournal.settings import Settings
from importers.files import File, files_of
from importers.run import Account, import_files
from tests.chat_files import HELLO, HI, lines
from tests.import_command import CommandLine, command_line
from tests.servers import connected

pytestmark = pytest.mark.stack


@pytest.fixture
def run(journal: Settings) -> Generator[CommandLine]:
    with command_line(journal) as run:
        yield run


def _ignore(file: File, share: float) -> None:
    del file, share


def test_of_a_broken_file_what_is_whole_is_imported(run: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "broken.jsonl"
    text = lines({"messages": [HI, HELLO]}) + "garbage\n" + lines({"messages": [HELLO]})
    file.write_text(text + '{"messages": [', encoding="utf-8")
    shown = run.plain(file, exit_code=1)
    assert f"left out: {file}: record 2 at byte {text.index('garbage')} (8 bytes)" in shown
    assert f"left out: {file}: record 4 at byte {len(text)} (14 bytes): is not complete" in shown
    assert run.rows(
        "SELECT session_id, messages FROM agentjournal.sessions WHERE tenant = %(t)s ORDER BY 1"
    ) == [("broken-1", 2), ("broken-3", 1)]


def test_a_file_that_grew_adds_its_tail_to_the_session_it_began(
    run: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(lines({"messages": [HI]}), encoding="utf-8")
    assert run(file)["added"] == 2
    text = lines({"messages": [HI]}, {"messages": [HI, HELLO]}, {"messages": [HELLO]})
    file.write_text(text, encoding="utf-8")
    account = run(file)
    assert (account["sessions"], account["added"], account["there"]) == (2, 3, 2)
    # The first session was the only one when it began, and keeps its name.
    assert run.rows(
        "SELECT session_id, messages FROM agentjournal.sessions WHERE tenant = %(t)s ORDER BY 1"
    ) == [("log", 2), ("log-3", 1)]


def test_a_session_with_other_content_is_left_out_and_not_touched(
    run: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "chat.json"
    file.write_text(json.dumps([HI, HELLO]), encoding="utf-8")
    run(file)
    count = run.events()
    file.write_text(json.dumps([HI, HI, HELLO]), encoding="utf-8")
    (left_out,) = run(file, exit_code=1)["left_out"]
    assert left_out["place"] == "session chat"
    assert left_out["reason"] == "holds other events than this file from version 3 on"
    assert run.events() == count


def test_a_session_of_another_user_is_left_out(run: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text(json.dumps([HI]), encoding="utf-8")
    run(file, "--user", "ann")
    assert run.one("SELECT user_id FROM agentjournal.sessions WHERE tenant = %(t)s") == "ann"
    (left_out,) = run(file, "--user", "bob", exit_code=1)["left_out"]
    assert "not from this file for this user" in left_out["reason"]
    assert run(file, "--user", "ann")["added"] == 0


def test_a_session_may_go_on_after_it_was_imported(run: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    file.write_text(
        json.dumps([HI, {"role": "assistant", "content": None, "tool_calls": [call]}]),
        encoding="utf-8",
    )
    run(file)

    async def go_on() -> aj.Window:
        async with connected(run.settings, tenant=run.settings.tenant) as log:
            session = log.session("chat")
            await session.append(aj.ToolCompleted(call_id="c", output="done", duration_ms=1.0))
            return await session.window()

    window = asyncio.run(go_on())
    assert [message["role"] for message in window.messages] == ["user", "assistant", "tool"]
    assert window.messages[1]["tool_calls"] == [call]
    assert run(file)["added"] == 0


def test_two_imports_of_one_file_at_once_add_it_once(run: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text(
        lines(*([HI, HELLO] * 80 + [{"role": "user", "content": str(n)}] for n in range(20))),
        encoding="utf-8",
    )
    accounts: list[Account] = []

    async def once() -> None:
        found = files_of([file])
        await import_files(found, run.settings, user=None, accounts=accounts, advance=_ignore)

    async def twice() -> None:
        await asyncio.gather(once(), once())

    asyncio.run(twice())
    assert not any(account.report.left_out for account in accounts)
    assert run.events() == 20 * 162


def test_a_large_value_is_named_and_the_rest_is_in_the_log(
    run: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "large.json"
    large = {"role": "user", "content": "x" * 1_000_000}
    fits = {"role": "user", "content": "y" * 870_000}
    file.write_text(json.dumps([HI, large, fits, HELLO]), encoding="utf-8")
    account = run(file, exit_code=1)
    assert [(each["place"], each["size"]) for each in account["left_out"]] == [
        ("message 2, parts[0]", 1_000_000)
    ]
    assert run.one("SELECT messages FROM agentjournal.sessions WHERE tenant = %(t)s") == 4
    assert (
        run.one(
            "SELECT data->'values'->0->>'bytes' FROM agentjournal.events"
            " WHERE tenant = %(t)s AND type = 'custom.import.missing'"
        )
        == "1000000"
    )
    assert run(file, exit_code=1)["added"] == 0


def test_nul_and_lone_surrogates_go_through(run: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "odd.json"
    file.write_text(
        '[{"role": "user", "content": "a\\u0000b\\ud800", "n": 1e999, "m": 99999999999999999999}]',
        encoding="utf-8",
    )
    assert run(file)["added"] == 2
    assert run(file)["added"] == 0


def test_a_named_file_in_another_format_fails_and_one_in_a_folder_does_not(
    run: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "other.json").write_text('{"a": 1}', encoding="utf-8")
    (tmp_path / "chat.json").write_text(json.dumps([HI]), encoding="utf-8")
    (tmp_path / "notes.md").write_text("# notes", encoding="utf-8")
    shown = run.plain(tmp_path / "other.json", exit_code=1)
    assert "not recognised" in shown
    assert "expected OpenAI chat messages" in shown
    shown = run.plain(tmp_path, exit_code=0)
    assert f"not recognised: {tmp_path / 'other.json'}" in shown
    assert "notes.md" not in shown
    assert run.one("SELECT count(*) FROM agentjournal.sessions WHERE tenant = %(t)s") == 1


def test_at_most_twenty_remarks_about_a_file_are_shown(run: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text(
        lines(*([{"messages": [HI]}] + [{"odd": n} for n in range(30)])), encoding="utf-8"
    )
    shown = run.plain(file, exit_code=1).splitlines()
    assert len([line for line in shown if line.startswith("left out")]) == 21
    assert shown[-1].endswith("and 10 more, which --json names")
    assert len(run(file, exit_code=1)["left_out"]) == 30


@pytest.mark.parametrize(
    "arguments", [("missing.json",), (), ("--user", "", "."), ("--tenant", "a\nb", ".")]
)
def test_wrong_use_is_status_2(run: CommandLine, arguments: Sequence[str]) -> None:
    run.plain(*arguments, exit_code=2)
