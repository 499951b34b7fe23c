"""The agent that the README shows works as printed, and goes on where it was killed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest

from agentjournal import Log
from agentjournal.settings import Settings
from agentjournal.testing import crash_everywhere
from tests import warm
from tests.servers import addresses_of

_README = Path(__file__).parents[2] / "README.md"
_DIES = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"


def agent_of_readme() -> str:
    """Return the one Python program of the README."""
    programs = re.findall(r"^```python\n(.*?)^```", _README.read_text(), re.DOTALL | re.MULTILINE)
    assert len(programs) == 1
    return str(programs[0])


def program_of(session_id: str) -> str:
    """Return that program with a session of its own, and a lease that a test can wait for."""
    program = agent_of_readme()
    for printed, ours in (("s-42", session_id), ("lease_s=5", "lease_s=0.5")):
        assert program.count(printed) == 1
        program = program.replace(printed, ours)
    return program


def run(program: str, folder: Path, settings: Settings) -> subprocess.CompletedProcess[str]:
    """Run a program as a user does, who has the addresses in the environment."""
    file = folder / "agent.py"
    file.write_text(program, encoding="utf-8")
    return warm.run((), os.environ | addresses_of(settings), 60, folder, program=str(file))


def rows(settings: Settings, query: str) -> list[tuple[Any, ...]]:
    """Return what an analyst gets."""
    with psycopg.connect(settings.postgres) as connection:
        return connection.execute(query.encode()).fetchall()


@pytest.mark.stack
def test_it_works_as_printed_and_a_second_run_adds_nothing(
    journal: Settings, tmp_path: Path
) -> None:
    program = program_of("s-printed")
    first = run(program, tmp_path, journal)
    assert (first.stdout, first.stderr) == ("Order 4711 is refunded.\n", "")
    again = run(program, tmp_path, journal)
    assert again.stdout == first.stdout
    found = rows(
        journal,
        "SELECT role, content FROM agentjournal.messages WHERE session_id = 's-printed' "
        "ORDER BY version",
    )
    assert found == [
        ("user", "Please refund order 4711."),
        ("assistant", ""),
        ("assistant", "Order 4711 is refunded."),
    ]


@pytest.mark.stack
@pytest.mark.parametrize(
    "line",
    [
        "    return await payments.refund(order, idempotency_key=call.idempotency_key)\n",
        "            window = await run.window(max_tokens=8_000)\n",
        "            await run.record(await ask_model(window.messages))\n",
    ],
)
def test_killed_before_a_line_it_goes_on_and_does_everything_once(
    journal: Settings, tmp_path: Path, line: str
) -> None:
    session_id = f"s-killed-{abs(hash(line))}"
    program = program_of(session_id)
    assert line in program
    indent = line[: len(line) - len(line.lstrip())]
    killed = run(program.replace(line, f"{indent}{_DIES}\n{line}"), tmp_path, journal)
    assert killed.returncode == -9
    assert run(program, tmp_path, journal).stdout == "Order 4711 is refunded.\n"
    found = rows(
        journal,
        "SELECT call_id, outcome, output, (SELECT count(*) FROM agentjournal.events AS e "
        "WHERE e.session_id = t.session_id AND e.type = 'tool.completed') "
        f"FROM agentjournal.tool_calls AS t WHERE session_id = '{session_id}'",
    )
    assert found == [("call-1", "completed", "refunded order 4711", 1)]


async def test_killed_at_each_await_it_comes_to_the_same() -> None:
    module: dict[str, Any] = {"__name__": "readme"}
    exec(compile(agent_of_readme(), "README.md", "exec"), module)

    async def main(log: Log) -> None:
        answer = await module["agent"](log, "Please refund order 4711.")
        assert answer == "Order 4711 is refunded."

    report = await crash_everywhere(main, effects=module["payments"].made)
    assert report.kills >= report.awaits > 5
