"""`agentjournal init` and `run`: what a container starts, on servers that are there already."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import agentjournal as aj
from agentjournal.settings import Settings
from local.stack import Stack
from tests.e2e.console import Console
from tests.servers import connected, new_database
from tests.waiting import awaited

pytestmark = pytest.mark.stack

TOPICS = ("appends", "events", "dead", "alerts", "services")


@pytest.fixture
def console(stack: Stack) -> Console:
    """The command on servers without topics and tables of ours."""
    return Console(asyncio.run(new_database(stack.settings)))


def test_init_makes_what_is_missing_and_is_repeatable(console: Console) -> None:
    done = console.output("init").splitlines()
    prefix = console.settings.topic_prefix
    assert [f"done: topic {prefix}{name}" for name in TOPICS] == done[:5]
    assert all(re.fullmatch(r"done: migration \d{4}_\w+", line) for line in done[5:])
    assert len(done) > 5
    assert console.output("init") == "nothing to do\n"


def test_init_started_twice_at_once_does_everything_once(console: Console) -> None:
    with ThreadPoolExecutor(3) as pool:
        ended = list(pool.map(console, ["init"] * 3))
    assert [each.returncode for each in ended] == [0, 0, 0], ended
    done = [line for each in ended for line in each.stdout.splitlines() if "nothing" not in line]
    assert len(done) == len(set(done))
    assert len(done) > 4
    assert console.output("init") == "nothing to do\n"


def test_run_works_until_sigterm_and_ends_with_0(console: Console) -> None:
    console.output("init")
    with console.start("run", "sequencer", "projector") as roles:
        try:
            asyncio.run(say(console.settings, "s-1"))
            shown = json.loads(console.output("show", "s-1", "--json"))
            assert [message["text"] for message in shown["messages"]] == ["hi"]
        finally:
            roles.send_signal(signal.SIGTERM)
        assert roles.wait(30) == 0
        assert roles.stderr is not None
        told = [json.loads(line) for line in roles.stderr.read().splitlines()]
    assert {line["role"] for line in told if line["event"] == "role_stopped"} == {
        "sequencer",
        "projector",
    }


async def say(settings: Settings, session_id: str) -> None:
    async with connected(settings, tenant=settings.tenant) as log:
        receipt = await log.session(session_id).append(aj.MessageAdded(role="user", content="hi"))
        await log.caught_up(receipt, timeout_s=30)


def test_run_stopped_while_it_starts_ends_with_0(console: Console) -> None:
    console.output("init")
    with console.start("run", "projector") as role:
        awaited(stops_at_sigterm(role.pid))
        role.send_signal(signal.SIGTERM)
        assert role.wait(30) == 0


def stops_at_sigterm(pid: int) -> Callable[[], bool]:
    """Return whether the process has a handler for SIGTERM by now."""

    def look() -> bool:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:  # noqa: PTH123
            caught = next(line.split()[1] for line in status if line.startswith("SigCgt"))
        return bool(int(caught, 16) & 1 << (signal.SIGTERM - 1))

    return look


def test_run_of_an_unknown_role_is_wrong_use_and_names_the_known(console: Console) -> None:
    said_why = console.failure("run", "sequencer", "meteor", status=2)
    assert "'meteor'" in said_why
    assert "sequencer, projector" in said_why
    assert "Missing argument" in console.failure("run", status=2)


@pytest.mark.parametrize(
    "command", [["sql", "SELECT 1"], ["sessions"], ["verify"], ["dead"], ["tail"]]
)
def test_before_init_a_command_says_that_it_is_needed(console: Console, command: list[str]) -> None:
    assert re.fullmatch(r"error: .*`agentjournal init`.*\n", console.failure(*command))
