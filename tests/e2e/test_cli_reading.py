"""`agentjournal sessions`, `show`, `diff`, `history`, `tail`: a log as a person reads it.

One log serves the whole file. Two sessions stand in it, `s-1` the latest active; what a test adds
goes to a session of its own.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

import agentjournal as aj
from agentjournal.settings import Settings
from local.stack import Stack
from tests.e2e.console import COMMAND, Console
from tests.servers import connected, fresh_settings, roles_in_a_process

pytestmark = pytest.mark.stack

TENANT = "acme"
STYLES = re.compile(r"\x1b\[[0-9;]*m")
NASTY = "\x1b]0;owned\x07 [bold]text[/bold] \x9b31m\r"
LONG_WORD = "w" * 200


@pytest.fixture(scope="module")
def console(stack: Stack) -> Iterator[Console]:
    settings = asyncio.run(fresh_settings(stack.settings))
    with roles_in_a_process(settings, "sequencer", "projector"):
        asyncio.run(seed(settings))
        yield Console(replace(settings, tenant=TENANT))


async def seed(settings: Settings) -> None:
    async with connected(settings, tenant=TENANT) as log:
        await log.session("s-2", user="u-2").append(said("first"))
        session = log.session("s-1", user="u-1", agent="support", title="An order")
        await session.append([aj.TurnStarted(turn_id="t-1", trigger="user"), said("Where is it?")])
        await session.append([model_call(), assistant()])
        await session.append(started("c-1", "find_order"))
        await session.append(
            aj.ToolCompleted(call_id="c-1", output=f"{NASTY}\nshipped", duration_ms=1_250)
        )
        receipt = await session.append(started("c-2", "refund"))
        await log.caught_up(receipt)


def said(text: str, role: Any = "user") -> aj.MessageAdded:
    return aj.MessageAdded(role=role, content=text)


def assistant() -> aj.MessageAdded:
    return aj.MessageAdded(
        role="assistant",
        model_call_id="m-1",
        parts=[
            aj.TextPart(text=f"Let me look. {LONG_WORD}"),
            aj.ToolCallPart(call_id="c-1", name="find_order", arguments_text='{"order": 7}'),
            aj.ToolCallPart(call_id="c-2", name="refund", arguments_text='{"order": 7}'),
        ],
    )


def model_call() -> aj.ModelCalled:
    return aj.ModelCalled(
        model_call_id="m-1",
        provider="openai",
        request_model="gpt-5",
        input_tokens=1_200,
        output_tokens=80,
        duration_ms=850,
        cost=aj.Cost(amount="0.0021", currency="USD", source="client"),
    )


def started(call_id: str, tool: str) -> aj.ToolStarted:
    return aj.ToolStarted(
        call_id=call_id,
        tool=tool,
        arguments_text='{"order": 7}',
        arguments_digest="d",
        effect="external",
        idempotency_key=call_id,
        lease_s=60,
    )


def append(console: Console, session_id: str, *events: aj.Event) -> None:
    async def to_log() -> None:
        async with connected(console.settings, tenant=TENANT) as log:
            await log.caught_up(await log.session(session_id).append(list(events)))

    asyncio.run(to_log())


def test_sessions_lists_the_latest_active_first(console: Console) -> None:
    found = json.loads(console.output("sessions", "--json"))
    ids = [each["session_id"] for each in found]
    assert ids.index("s-1") < ids.index("s-2")
    first = next(each for each in found if each["session_id"] == "s-1")
    assert (first["user_id"], first["agent"], first["title"]) == ("u-1", "support", "An order")
    assert (first["messages"], first["input_tokens"], first["output_tokens"]) == (2, 1_200, 80)
    assert (first["status"], first["open_calls"], first["version"]) == ("open", 1, 8)
    assert datetime.fromisoformat(first["last_activity_at"]).tzinfo is not None


def test_sessions_piped_are_aligned_plain_lines_under_their_names(console: Console) -> None:
    names, *lines = console.output("sessions", "--user", "u-1").splitlines()
    assert names.split() == [
        *("session", "user", "status", "last", "active", "messages", "open", "in", "out"),
        *("title", "agent"),
    ]
    assert [line.split()[0] for line in lines] == ["s-1"]
    assert lines[0].index("u-1") == names.index("user")
    assert lines[0].endswith("support")


def test_sessions_are_narrowed_by_user_status_and_limit(console: Console) -> None:
    of_user = json.loads(console.output("sessions", "--user", "u-2", "--json"))
    assert [each["session_id"] for each in of_user] == ["s-2"]
    assert json.loads(console.output("sessions", "--status", "expired", "--json")) == []
    assert len(json.loads(console.output("sessions", "--limit", "1", "--json"))) == 1
    assert "'open'" in console.failure("sessions", "--status", "closed", status=2)


def test_sessions_fit_a_terminal_of_80_columns(console: Console) -> None:
    lines = [STYLES.sub("", line) for line in console.on_terminal("sessions").splitlines()]
    assert all(cell_len(line) <= 80 for line in lines)
    assert any(line.split()[:3] == ["s-1", "u-1", "open"] for line in lines)


def test_show_piped_is_plain_and_whole(console: Console) -> None:
    shown = console.output("show", "s-1")
    lines = shown.splitlines()
    assert lines[0] == "session s-1  An order"
    assert lines[1] == "  tenant acme · user u-1 · agent support · open · version 8"
    assert lines[3] == "  tokens 1,200 in, 80 out · cost 0.0021 USD · open calls 1"
    assert re.search(r"^── turn · user · \S+ \S+ ───$", shown, re.MULTILINE)
    assert "  model gpt-5 · 1,200 in · 80 out · 0.0021 USD · 850 ms" in lines
    assert f"  Let me look. {LONG_WORD}" in lines
    assert "    → find_order c-1  completed  1.2 s" in lines
    assert re.search(r"^    → refund c-2  open  lease until \S+ \S+$", shown, re.MULTILINE)
    assert lines.index("        shipped") > lines.index('      {"order": 7}')


def test_show_renders_what_others_wrote_harmlessly(console: Console) -> None:
    harmless = r"\x1b]0;owned\x07 [bold]text[/bold] \x9b31m"
    piped = console.output("show", "s-1")
    assert f"      ← {harmless}" in piped
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", piped)
    terminal = STYLES.sub("", console.on_terminal("show", "s-1"))
    assert harmless in terminal
    assert "\x1b" not in terminal


@pytest.mark.parametrize("columns", [80, 40])
def test_show_is_no_wider_than_the_terminal(console: Console, columns: int) -> None:
    written = console.on_terminal("show", "s-1", columns=columns)
    assert "\x1b[" in written
    lines = STYLES.sub("", written).splitlines()
    assert max(map(cell_len, lines)) <= columns
    assert sum(line.count("w") for line in lines if set(line.strip()) == {"w"}) > 100


def test_show_as_json_has_every_value_as_it_was_recorded(console: Console) -> None:
    shown = json.loads(console.output("show", "s-1", "--json"))
    assert (shown["session_id"], shown["version"], shown["open_calls"]) == ("s-1", 8, ["c-2"])
    assert [message["role"] for message in shown["messages"]] == ["user", "assistant"]
    assert shown["messages"][1]["parts"] == [
        {"type": "text", "text": f"Let me look. {LONG_WORD}"},
        *(
            {"type": "tool_call", "call_id": c, "name": n, "arguments_text": '{"order": 7}'}
            for c, n in (("c-1", "find_order"), ("c-2", "refund"))
        ),
    ]
    calls = {call["call_id"]: call for call in shown["tool_calls"]}
    assert calls["c-1"]["output"] == f"{NASTY}\nshipped"
    assert (calls["c-1"]["outcome"], calls["c-1"]["duration_ms"]) == ("completed", 1_250)
    assert calls["c-2"]["outcome"] == "open"
    assert [called["data"]["request_model"] for called in shown["model_calls"]] == ["gpt-5"]
    assert [turn["data"]["turn_id"] for turn in shown["turns"]] == ["t-1"]


def test_show_at_a_version_or_a_time_is_as_it_was_then(console: Console) -> None:
    now = json.loads(console.output("show", "s-1", "--json"))
    early = json.loads(console.output("show", "s-1", "--at", "6", "--json"))
    assert (early["version"], early["last_version"]) == (6, 8)
    assert set(early["open_calls"]) == {"c-1", "c-2"}
    began = json.loads(console.output("show", "s-1", "--at", now["started_at"], "--json"))
    assert began["version"] == 3
    assert "version 6 of 8" in console.output("show", "s-1", "--at", "6")
    assert "no events" in console.failure("show", "s-1", "--at", "2001-01-01")
    assert "neither a version nor a time" in console.failure(
        "show", "s-1", "--at", "noon", status=2
    )
    assert console.failure("show", "s-1", "--at", "9") == (
        "error: session/acme/s-1 has no version 9: its last one is version 8\n"
    )


def test_diff_shows_what_changed_between_two_versions(console: Console) -> None:
    lines = console.output("diff", "s-1", "4", "7").splitlines()
    assert lines == [
        "session s-1  version 4 → 7",
        "messages",
        f"  + 5  assistant  Let me look. {'w' * 186}…",
        "tool calls",
        r"  + c-1  find_order  completed  \x1b]0;owned\x07 [bold]text[/bold] \x9b31m shipped",
        "  + c-2  refund  open",
        "events  1 message.added, 1 tool.started, 1 tool.completed",
    ]
    found = json.loads(console.output("diff", "s-1", "6", "8", "--json"))
    assert (found["from_version"], found["to_version"]) == (6, 8)
    calls = {each["after"]["call_id"]: each for each in found["tool_calls"]["changed"]}
    assert calls["c-1"]["after"]["output"] == f"{NASTY}\nshipped"
    assert (calls["c-2"]["before"]["attempt"], calls["c-2"]["after"]["attempt"]) == (0, 1)
    assert found["events"] == {"tool.completed": 1, "tool.started": 1}
    assert "nothing changed" in console.output("diff", "s-1", "3", "3")
    shown = console.on_terminal("diff", "s-1", "0", "8", columns=60)
    assert "\x1b[" in shown
    assert max(map(cell_len, STYLES.sub("", shown).splitlines())) <= 60


def test_diff_takes_times_and_refuses_what_is_no_place(console: Console) -> None:
    now = json.loads(console.output("show", "s-1", "--json"))
    found = json.loads(console.output("diff", "s-1", "2001-01-01", now["started_at"], "--json"))
    assert (found["from_version"], found["to_version"]) == (0, 3)
    assert found["fields"]["title"] == {"before": None, "after": "An order"}
    assert "its last one is version 8" in console.failure("diff", "s-1", "1", "9")
    assert "neither a version nor a time" in console.failure("diff", "s-1", "1", "x", status=2)
    assert "there is no session" in console.failure("diff", "s-0", "0", "1")


def test_history_is_a_line_an_event_with_who_did_it(console: Console) -> None:
    lines = console.output("history", "s-1").splitlines()
    assert [(line.split()[0], line.split()[3], line.split()[4]) for line in lines] == [
        ("1", "support", "session.started"),
        ("2", "support", "turn.started"),
        ("3", "support", "message.added"),
        ("4", "support", "model.called"),
        ("5", "support", "message.added"),
        ("6", "support", "tool.started"),
        ("7", "support", "tool.completed"),
        ("8", "support", "tool.started"),
    ]
    assert lines[2].endswith("user: Where is it?")
    found = json.loads(console.output("history", "s-1", "--json"))
    assert [event["version"] for event in found] == list(range(1, 9))
    assert {event["agent"] for event in found} == {"support"}
    assert found[6]["data"]["output"] == f"{NASTY}\nshipped"
    terminal = STYLES.sub("", console.on_terminal("history", "s-1", columns=110)).splitlines()
    assert (len(terminal), max(map(cell_len, terminal))) == (8, 110)
    assert "there is no session" in console.failure("history", "s-0")


def test_show_takes_a_stream_too(console: Console) -> None:
    assert console.output("show", "session/acme/s-1") == console.output("show", "s-1")


def test_show_of_an_unknown_session_names_those_that_look_alike(console: Console) -> None:
    said_why = console.failure("show", "s-11")
    assert re.fullmatch(r"error: there is no session s-11 of tenant acme; is it .*\n", said_why)
    assert "s-1" in said_why.split("is it ")[1]
    assert "`agentjournal sessions`" in console.failure("show", "nothing like it, at all")


def test_check_upgrade_lists_the_sessions_that_new_code_cannot_load(
    console: Console, tmp_path: Path
) -> None:
    name = "custom.cli_order_placed"
    append(console, "upgraded", said("a"), aj.CustomEvent(name, {"order": 7}))
    whole = console.output("check-upgrade", "--sample", "1000")
    assert whole.endswith(f"kept without a model: 1 {name}\nevery one of them loads\n")
    (tmp_path / "shop_events.py").write_text(
        "import agentjournal\n"
        "class Placed(agentjournal.Event):\n"
        "    orders: list[int]\n"
        f"agentjournal.register(Placed, type={name!r}, version=2,"
        " upcasters={1: lambda fields: {'orders': [fields['number']]}})\n"
    )
    arguments = ("check-upgrade", "--models", "shop_events")
    done = console(*arguments, PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (1, "")
    failure, summary, last = done.stdout.splitlines()
    assert failure.startswith(
        f"session/acme/upgraded version 3: {name}, written as schema version 1"
    )
    assert failure.endswith("raised KeyError: 'number'")
    assert summary.split(":")[0] == whole.split(":")[0]
    assert re.fullmatch(r"(\d+) of \1 sessions: \d+ events, 0 of them upcast", summary)
    assert last == "1 failure"
    as_json = console(*arguments, "--json", PYTHONPATH=str(tmp_path))
    [listed] = json.loads(as_json.stdout)["failures"]
    assert (listed["stream"], listed["version"]) == ("session/acme/upgraded", 3)
    assert "cannot be imported: ModuleNotFoundError" in console.failure(
        "check-upgrade", "--models", "no_such_module"
    )


def test_tail_shows_the_latest_events_a_line_each(console: Console) -> None:
    lines = console.output("tail", "s-1", "--lines", "3").splitlines()
    assert [line.split()[2:5] for line in lines] == [
        ["session/acme/s-1", "6", "tool.started"],
        ["session/acme/s-1", "7", "tool.completed"],
        ["session/acme/s-1", "8", "tool.started"],
    ]
    assert lines[2].endswith('refund({"order": 7})')
    assert "\x1b" not in "".join(lines)
    everything = console.output("tail", "--lines", "1000")
    assert console.output("tail", "s-1", "--lines", "1000").splitlines()[-1] in everything
    assert "session/acme/s-2" in everything


def test_tail_shows_only_events_of_the_types_that_are_named(console: Console) -> None:
    for of in (["s-1"], []):
        output = console.output("tail", *of, "--types", "tool.completed, model.called", "--json")
        events = [json.loads(line) for line in output.splitlines()]
        mine = [event for event in events if event["stream"] == "session/acme/s-1"]
        assert [event["type"] for event in mine] == ["model.called", "tool.completed"]
        assert mine[1]["data"]["output"] == f"{NASTY}\nshipped"
        assert mine[1]["version"] == 7
    assert "'tool.done'" in console.failure("tail", "--types", "tool.done", status=2)


def test_tail_of_an_unknown_session_fails(console: Console) -> None:
    assert "there is no session" in console.failure("tail", "s-0")


@pytest.mark.parametrize("session", [None, "followed-one"])
def test_tail_follows_what_is_recorded_until_ctrl_c(console: Console, session: str | None) -> None:
    session_id = session or "followed-all"
    append(console, session_id, said("before"))
    of = [] if session is None else [session]
    with following(console, *of, "--follow", "--lines", "1", "--types", "message.added") as tail:
        assert tail.stdout is not None
        assert "user: before" in tail.stdout.readline()
        for number in range(3):
            append(console, session_id, aj.NoteSet(key="k", value=number), said(f"after {number}"))
            assert tail.stdout.readline().endswith(f"user: after {number}\n")
        tail.send_signal(signal.SIGINT)
        assert tail.wait(20) == 0
        assert tail.stderr is not None
        assert (tail.stdout.read(), tail.stderr.read()) == ("", "")


def following(console: Console, *arguments: str) -> subprocess.Popen[str]:
    return console.start("tail", *arguments)


def test_a_reader_that_has_enough_ends_a_command_without_a_word(console: Console) -> None:
    done = subprocess.run(
        f"{COMMAND} tail --json --lines 1000 | head -n 1",
        shell=True,
        env=console.environment,
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["version"] >= 1
    assert done.stderr == b""


@pytest.mark.parametrize(
    "command", [["tail"], ["dead"], ["sql", "SELECT 1"], ["verify"], ["check-upgrade"]]
)
def test_servers_that_cannot_be_reached_are_one_line_and_status_1(
    console: Console, command: list[str]
) -> None:
    said_why = console.failure(
        *command,
        AGENTJOURNAL_KAFKA="127.0.0.1:9",
        AGENTJOURNAL_POSTGRES="postgresql://nobody@127.0.0.1:9/none",
    )
    assert re.fullmatch(r"error: (Kafka|Postgres) cannot be reached: .*\n", said_why)
