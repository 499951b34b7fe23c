"""`agentjournal work`: sessions are worked on by a function of one's own, whoever is killed."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from agentjournal import Log, MessageAdded
from agentjournal.settings import Settings
from tests.e2e.console import COMMAND, Console
from tests.servers import connected
from tests.waiting import awaited

pytestmark = pytest.mark.stack

AGENT = """\
import asyncio
import os

from agentjournal import MessageAdded, Run


async def answer(run: Run) -> None:
    with open("begun", "a") as begun:
        begun.write(f"{run.session.id}\\n")
    await run.window()  # a turn begins
    if "STUCK" in os.environ:
        await asyncio.Event().wait()
    await run.record(MessageAdded(role="assistant", content="yes"))
"""
SESSIONS = [f"s-{n}" for n in range(6)]


@pytest.fixture
def console(journal: Settings) -> Console:
    """The command as a tenant of its own."""
    return Console(replace(journal, tenant=f"tenant-{uuid4().hex[:8]}"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an agent in it."""
    (tmp_path / "my_agent.py").write_text(AGENT)
    return tmp_path


@contextmanager
def worker(
    console: Console, folder: Path, *options: str, **environment: str
) -> Generator[subprocess.Popen[str]]:
    """Start a worker, and kill it at the end of the block if it still runs."""
    with subprocess.Popen(
        [COMMAND, "work", "my_agent:answer", "--agent", "support", "--poll-s", "0.1", *options],
        env={**console.environment, **environment},
        cwd=folder,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def begun(folder: Path) -> Counter[str]:
    """Return how often each session was begun with."""
    file = folder / "begun"
    return Counter(file.read_text().split()) if file.exists() else Counter()


async def answers(log: Log) -> list[int]:
    states = [await log.session(name).load() for name in SESSIONS]
    return [sum(m.role == "assistant" for m in state.messages) for state in states]


async def test_when_all_workers_are_killed_one_goes_on_with_everything(
    console: Console, folder: Path
) -> None:
    asked = MessageAdded(role="user", content="hello")
    async with connected(console.settings, tenant=console.settings.tenant) as log:
        appends = (log.session(name, agent="support").append(asked) for name in SESSIONS)
        await asyncio.gather(*appends)
        options = ("--concurrency", "3", "--lease-s", "1")
        with (
            worker(console, folder, *options, STUCK="1") as one,
            worker(console, folder, *options, STUCK="1") as two,
        ):
            await asyncio.to_thread(awaited, lambda: len(begun(folder)) == 6, timeout_s=60)
            for process in (one, two):
                process.kill()
        assert begun(folder) == Counter(SESSIONS)
        with worker(console, folder, "--concurrency", "8") as last:
            async with asyncio.timeout(60):
                while await answers(log) != [1] * 6:  # noqa: ASYNC110 - they tell nobody
                    await asyncio.sleep(0.1)
            last.send_signal(signal.SIGTERM)
            said = await asyncio.to_thread(last.communicate, timeout=30)
        assert (last.returncode, said[1]) == (0, "working on sessions of support\nstopped\n")
    assert begun(folder) == Counter(SESSIONS * 2)


async def test_a_second_signal_gives_back_at_once_what_is_on(
    console: Console, folder: Path
) -> None:
    async with connected(console.settings, tenant=console.settings.tenant) as log:
        asked = MessageAdded(role="user", content="hello")
        await log.session("s", agent="support").append(asked)
        with worker(console, folder, STUCK="1") as stuck:
            await asyncio.to_thread(awaited, lambda: begun(folder), timeout_s=60)
            for number in (signal.SIGTERM, signal.SIGINT):
                stuck.send_signal(number)
            said = await asyncio.to_thread(stuck.communicate, timeout=20)
        assert (stuck.returncode, said[1]) == (0, "working on sessions of support\nstopped\n")
        async with log.session("s").resume() as run:
            assert not run.answered


def test_a_lease_that_is_none_is_wrong_use(
    console: Console, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    said = console.failure("work", "my_agent:answer", "--lease-s", "0", status=2)
    assert "lease_s=0" in said
