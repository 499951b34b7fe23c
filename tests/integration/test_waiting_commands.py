"""`approvals`, `approve`, `deny`, `unknown`, `settle` and `tree` on real servers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import agentjournal
from agentjournal import Log, SessionState
from agentjournal.events import StepStarted
from agentjournal.settings import Settings
from commands.app import command_line
from commands.tree import branch
from tests.agents import asks, says

pytestmark = pytest.mark.stack


def run(*words: str) -> Result:
    return CliRunner().invoke(command_line(words[0]), list(words))


def shown(*words: str) -> list[dict[str, Any]]:
    """Return the rows that a command prints as JSON."""
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    rows: list[dict[str, Any]] = json.loads(result.output)
    return rows


def done(settings: Settings, work: Callable[[Log], Coroutine[Any, Any, None]]) -> None:
    """Do something with a log, and wait until every view shows it."""

    async def do() -> None:
        async with Log(settings) as log:
            await work(log)
            for session in [each async for each in log.sessions()]:
                await log.caught_up(await log.session(session.session_id).set_note("seen", 1))

    asyncio.run(do())


def state_of(settings: Settings, session: str) -> SessionState:
    async def load() -> SessionState:
        async with Log(settings) as log:
            return await log.session(session).load()

    return asyncio.run(load())


async def ask_to_pay(log: Log) -> None:
    @agentjournal.tool(approval=True)
    async def pay(amount: int) -> None:
        raise AssertionError(amount)

    for session in ("s", "t"):
        async with log.session(session, agent="support").resume() as going:
            await going.say("Pay.")
            await going.record(asks("c", "pay", amount=10))
            await going.finish_open_calls([pay])


def test_approvals_are_listed_and_answered(named: Settings) -> None:
    done(named, ask_to_pay)
    first, second = shown("approvals")
    assert (first["session_id"], second["session_id"]) == ("s", "t")
    assert (first["tool"], first["arguments_text"]) == ("pay", '{"amount":10}')
    assert (first["question"], first["status"]) == ("May pay run?", "open")
    assert 'pay {"amount":10}' in run("approvals", "s").output
    approval_id = first["approval_id"]

    granted = run(
        "approve", "s", approval_id, "--by", "eva", "--comment", "ok", "--arguments", '{"amount":7}'
    )
    assert (granted.exit_code, granted.output) == (
        *(0, f"approval {approval_id} was granted by eva\n"),
    )
    held = state_of(named, "s").approvals[approval_id]
    assert (held.outcome, held.comment, held.edited_arguments_text) == (
        *("granted", "ok", '{"amount":7}'),
    )
    assert run("deny", "s", approval_id, "--by", "tom").exit_code == 1
    assert run("deny", "t", second["approval_id"], "--by", "tom").exit_code == 0
    done(named, _nothing)
    assert shown("approvals") == []
    assert [each["status"] for each in shown("approvals", "--all")] == ["granted", "denied"]
    for wrong, status in (
        (["approve", "s", "no-such", "--by", "eva"], 1),
        (["approve", "nobody", approval_id, "--by", "eva"], 1),
        (["approve", "s", approval_id], 2),
        (["approve", "s", approval_id, "--by", "eva", "--arguments", "{"], 2),
    ):
        assert run(*wrong).exit_code == status, wrong


async def _nothing(_: Log) -> None:
    """Only what was written before is waited for."""


async def cut_off(log: Log) -> None:
    session = log.session("s")
    calling = session.call("pay", {"amount": 10}, call_id="c", lease_s=0)
    await calling.__aenter__()  # and its worker is gone
    step = StepStarted(plan_id="p", step_id="build", idempotency_key="k-9", lease_s=0)
    await log.caught_up(await log.task("deploy").append(step))


def test_what_is_unknown_is_listed_and_settled(named: Settings) -> None:
    done(named, cut_off)
    row, step = shown("unknown")
    assert (row["session_id"], row["kind"], row["id"], row["what"]) == ("s", "call", "c", "pay")
    assert row["idempotency_key"] in run("unknown", "s").output
    assert (step["session_id"], step["task_id"], step["kind"], step["id"]) == (
        *(None, "deploy", "step", "p build"),
    )
    lines = run("unknown").output.splitlines()
    assert lines[2].split()[:5] == ["task", "deploy", "step", "p", "build"]
    assert lines[2].endswith("k-9")
    assert run("settle", "s", "c").exit_code == 2
    assert run("settle", "s", "no-such", "--completed", "x").exit_code == 1
    settled = run("settle", "s", "c", "--completed", "paid", "--evidence", '{"receipt": 9}')
    assert (settled.exit_code, settled.output) == (0, "call c of pay is completed\n")
    again = run("settle", "s", "c", "--completed", "paid twice")
    assert (again.exit_code, again.stdout) == (0, "call c of pay is completed\n")
    assert again.stderr == "what was said first stands: paid\n"
    assert run("settle", "s", "c", "--failed", "no").exit_code == 1
    assert state_of(named, "s").calls["c"].output == "paid"
    done(named, _nothing)
    assert [each["kind"] for each in shown("unknown")] == ["step"]
    assert shown("unknown", "s") == []


async def hand_down(log: Log) -> None:
    async with log.session("boss", agent="boss").resume() as going:
        await going.say("Count, and weigh.")
        count = await going.hand_off("counter", "Count the beans.\nAll.", child_session_id="count")
        await going.hand_off("weigher", "Weigh the beans.", child_session_id="weigh")
    async with log.session("count", agent="counter").resume() as going:
        await going.hand_off("helper", "Help.", child_session_id="help")
    async with log.session("help", agent="helper").resume() as going:
        await going.begin_turn()
        await going.end_turn("failed", error=agentjournal.Failure(message="no hands"))
    async with log.session("count", agent="counter").resume() as going:
        await going.record(says("3"))
    assert count.outcome == "open"


def test_a_tree_shows_who_handed_what_to_whom_and_what_came_of_it(named: Settings) -> None:
    done(named, hand_down)
    found = shown("tree", "help")
    assert [(row["session_id"], row["agent"], row["depth"]) for row in found] == [
        *(("boss", "boss", 0), ("count", "counter", 1)),
        *(("help", "helper", 2), ("weigh", "weigher", 1)),
    ]
    assert [row["handoff"] for row in found] == [None, "completed", "failed", "open"]
    lines = run("tree", "boss").output.splitlines()
    drawn = ["session", "boss", "├─ count", "│  └─ help", "└─ weigh"]
    assert all(map(str.startswith, lines, (f"{each}  " for each in drawn))), lines
    assert "Count the beans. …" in lines[2]
    assert lines[3].endswith("error: no hands")
    assert run("tree", "no-such").exit_code == 1


def test_branches_of_a_tree_are_drawn_by_its_depths() -> None:
    depths = [0, 1, 2, 2, 1, 2]
    assert [branch(depths, at) for at in range(len(depths))] == [
        *("", "├─ ", "│  ├─ ", "│  └─ ", "└─ ", "   └─ "),
    ]
