"""The coding agent of the examples, killed with `kill -9` wherever the log has got to."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Coroutine, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

import agentjournal as aj
from consumers.running import initialise
from examples.broken_project import write_project, write_tests
from examples.killing import tool_started
from examples.scripted_model import SCRIPT
from local.stack import Stack
from tests import warm
from tests.servers import roles_in_a_process, within

pytestmark = [pytest.mark.stack, pytest.mark.slow]

CHECKOUT = Path(__file__).parents[2]
SEEDS = (1, 2)
KILLS = 4
CALLS = sum(len(calls) for _, calls in SCRIPT)


@dataclass(frozen=True)
class Finished:
    """A session whose agent was killed `KILLS` times, and then let to its end."""

    session_id: str
    folder: Path
    postgres: str

    def rows(self, query: str) -> Sequence[tuple[Any, ...]]:
        """Return what SQL answers; `%s` in the query is the session's id."""
        with psycopg.connect(self.postgres) as connection:
            return connection.execute(query.encode(), [self.session_id]).fetchall()


@pytest.fixture(scope="module")
def stack_at_work(stack: Stack) -> Generator[Stack]:
    """The servers that all tests share, with roles on the topics and tables that a user has."""
    asyncio.run(initialise(stack.settings))
    with roles_in_a_process(stack.settings, "sequencer", "projector", "indexer", "meter"):
        yield stack


@pytest.fixture(scope="module")
def all_finished(
    stack_at_work: Stack, tmp_path_factory: pytest.TempPathFactory
) -> dict[int, Finished]:
    async def run_all() -> list[Finished]:
        runs = (run_killed(stack_at_work, seed, tmp_path_factory) for seed in SEEDS)
        return await asyncio.gather(*runs)

    return dict(zip(SEEDS, asyncio.run(run_all()), strict=True))


@pytest.fixture(params=SEEDS)
def finished(all_finished: dict[int, Finished], request: pytest.FixtureRequest) -> Finished:
    return all_finished[request.param]


async def run_killed(stack: Stack, seed: int, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Run the agent to its end over `KILLS` kills: in a tool, then each a few events further on."""
    chance = random.Random(seed)
    folder = tmp_path_factory.mktemp(f"seed-{seed}") / "project"
    write_project(folder, setup_s=20.0)
    session_id, settings = f"demo-{seed}", stack.settings
    home = str(stack.home.path)
    async with aj.connect(
        kafka=settings.kafka, postgres=settings.postgres, redis=settings.redis
    ) as log:
        session = log.session(session_id)
        await killed_when(start_agent(session_id, folder, home), tool_started(session, "run_tests"))
        write_tests(folder, setup_s=0.2)
        at: int = (await session.load()).version
        for _ in range(KILLS - 1):
            at += chance.randint(1, 4)
            await killed_when(start_agent(session_id, folder, home), version_reached(session, at))
            at = max(at, (await session.load()).version)
    assert await start_agent(session_id, folder, home).ended() == 0
    return Finished(session_id, folder, settings.postgres)


def start_agent(session_id: str, folder: Path, home: str) -> warm.Forked:
    environment = {**os.environ, "AGENTJOURNAL_HOME": home}
    arguments = session_id, str(folder)
    return warm.start("examples.coding_agent", arguments, environment, warm.OURS, CHECKOUT)


async def killed_when(agent: warm.Forked, seen: Coroutine[None, None, None]) -> None:
    await within(seen, timeout_s=60)
    agent.send_signal(signal.SIGKILL)
    await agent.ended()


async def version_reached(session: aj.Session, version: int) -> None:
    async for recorded in session.events(follow=True):
        if recorded.version >= version:
            return


def test_the_log_has_every_version_once(finished: Finished) -> None:
    query = "SELECT version FROM agentjournal.events WHERE session_id = %s ORDER BY version"
    versions = [row[0] for row in finished.rows(query)]
    assert versions == list(range(1, len(versions) + 1))


def test_the_model_decided_each_step_once(finished: Finished) -> None:
    query = (
        "SELECT content FROM agentjournal.messages WHERE session_id = %s AND role = 'assistant' "
        "ORDER BY version"
    )
    assert [row[0] for row in finished.rows(query)] == [text for text, _ in SCRIPT]


def test_every_call_was_completed_once(finished: Finished) -> None:
    query = (
        "SELECT data ->> 'call_id', count(*) FROM agentjournal.events "
        "WHERE session_id = %s AND type IN ('tool.completed', 'tool.failed') GROUP BY 1"
    )
    ended = dict(finished.rows(query))
    assert len(ended) == CALLS
    assert set(ended.values()) == {1}
    query = "SELECT DISTINCT outcome FROM agentjournal.tool_calls WHERE session_id = %s"
    assert finished.rows(query) == [("completed",)]


def test_what_had_ended_was_not_started_again(finished: Finished) -> None:
    query = (
        "SELECT count(*) FROM agentjournal.events AS later "
        "JOIN agentjournal.events AS ended USING (stream) "
        "WHERE later.session_id = %s AND later.type = 'tool.started' "
        "AND ended.type = 'tool.completed' AND later.version > ended.version "
        "AND later.data ->> 'call_id' = ended.data ->> 'call_id'"
    )
    assert finished.rows(query) == [(0,)]


def test_a_call_that_was_cut_off_kept_its_idempotency_key(finished: Finished) -> None:
    query = (
        "SELECT count(DISTINCT data ->> 'idempotency_key') FROM agentjournal.events "
        "WHERE session_id = %s AND type = 'tool.started' GROUP BY data ->> 'call_id'"
    )
    assert finished.rows(query) == [(1,)] * CALLS


def test_the_version_was_published_once(finished: Finished) -> None:
    registry = finished.folder.with_name("registry.jsonl")
    assert len(registry.read_text(encoding="utf-8").splitlines()) == 1


def test_the_project_is_mended(finished: Finished) -> None:
    command = [sys.executable, "-B", "-m", "unittest"]
    ran = subprocess.run(command, cwd=finished.folder, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_a_call_was_cut_off_at_all(finished: Finished) -> None:
    """What the other tests say of calls that were cut off is about something."""
    query = (
        "SELECT data ->> 'tool' FROM agentjournal.events WHERE session_id = %s "
        "AND type = 'tool.started' AND (data ->> 'attempt')::int > 1 ORDER BY version"
    )
    assert ("run_tests",) in finished.rows(query)


def test_the_demo_shows_what_it_promises_and_imports_a_file(
    stack_at_work: Stack, tmp_path: Path
) -> None:
    chat = tmp_path / "chat-of-another-agent.json"
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    chat.write_text(json.dumps(messages), encoding="utf-8")
    shown = subprocess.run(
        [sys.executable, "-m", "examples.demo", str(chat)],
        cwd=CHECKOUT,
        env={**os.environ, "AGENTJOURNAL_HOME": str(stack_at_work.home.path)},
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert shown.returncode == 0, shown.stdout + shown.stderr
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert ["call-1-2", "run_tests", "completed", "2", "1"] in lines  # cut off: started twice
    assert ["call-2-1", "read_file", "completed", "1", "1"] in lines
    assert ["call-5-1", "revert_file", "completed", "1", "1"] in lines
    assert ["call-8-1", "publish", "completed", "2", "1"] in lines
    assert "has 1 version" in shown.stdout
    assert "messages are cut, versions 2 to " in shown.stdout
    assert "refused: " in shown.stdout
    assert "[Summary of the conversation, versions 1 to 13]" in shown.stdout
    assert "order: 48213" in shown.stdout or "number: 48213" in shown.stdout
    assert "as of version 17 it is what it was: 16 messages" in shown.stdout
    assert "learned: seat = window" in shown.stdout
    assert "no longer: seat = window" in shown.stdout
    assert "and the agent says: Booked: Monday, 9D, on the aisle, a meal" in shown.stdout
    window, aisle = (line for line in lines if line[:1] == ["seat"])
    assert (window[1], window[6]) == ("window", "superseded")
    assert aisle[1:2] + aisle[4:7] == ["aisle", "-", "-", "preference"]
    assert aisle[7].endswith("-rome")
    assert "after 15 calls: " in shown.stdout
    assert "events would be 32, at most 30" in shown.stdout
    told = [line for line in lines if line[2:4] == ["critical", "runaway_loop"]]
    assert len(told) == 2  # by `alerts`, and by `top`
    assert ["projection", "events", "behind", "seconds", "behind", "parked"] in lines
    assert "chat-of-another-agent" in shown.stdout.partition("Questions over all sessions")[2]
