"""The coding agent of the examples can be killed at each of its awaits."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentjournal import FileChanged
from agentjournal.testing import MemoryLog, crash_everywhere, memory_log
from examples import coding_agent, coding_tools, registry
from examples.broken_project import PRICES, write_project


@dataclass
class Surroundings:
    """The project's folder and the registry: all that the agent changes but for its log."""

    folder: Path

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        write_project(self.project, setup_s=0)

    def __iter__(self) -> Iterator[str]:
        published = self.folder / "registry.jsonl"
        for line in published.read_text().splitlines() if published.exists() else ():
            yield f"published {json.loads(line)['version']}"
        yield f"prices.py is {(self.project / 'prices.py').read_text()!r}"

    async def agent(self, log: MemoryLog) -> None:
        session = log.session("s", user="demo", agent="coding-agent", title=coding_agent.TASK)
        await coding_agent.work(session, self.project)


def end_of_tests(folder: Path) -> str:
    """Say how the tests end, without a process of their own."""
    is_right = "(100 - discount_percent) / 100" in (folder / "prices.py").read_text()
    return f"exit status {int(not is_right)}"


@pytest.fixture
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Surroundings:
    monkeypatch.setattr(registry, "ANSWER_S", 0)
    monkeypatch.setattr(coding_tools, "end_of_tests", end_of_tests)
    return Surroundings(tmp_path / "surroundings")


async def test_it_does_nothing_twice_wherever_it_is_killed(surroundings: Surroundings) -> None:
    report = await crash_everywhere(surroundings.agent, effects=surroundings)
    assert report.kills > 40
    assert {str(effect).split(" ")[0] for effect in surroundings} == {"published", "prices.py"}
    assert (surroundings.project / "prices.py").read_text() != PRICES


async def test_rows_of_kills_change_nothing_either(surroundings: Surroundings) -> None:
    assert await crash_everywhere(surroundings.agent, effects=surroundings, kills=3, limit=10)


async def test_what_it_changes_has_a_diff_and_can_be_had_as_it_was(
    surroundings: Surroundings,
) -> None:
    surroundings.clear()
    async with memory_log() as log:
        await surroundings.agent(log)
        session = log.session("s")
        events = [each.event async for each in session.events()]
        changes = [each for each in events if isinstance(each, FileChanged)]
        assert [each.reason for each in changes] == ["create", "edit", "revert", "edit"]
        assert [each.call_id for each in changes] == [None, "call-3-1", "call-5-1", "call-6-1"]
        assert "+    return sum(prices) - discount_percent\n" in (changes[1].diff or "")
        kept = [(await session.artifact(each.artifact or "")).decode() for each in changes]
        mended = PRICES.replace("* discount_percent", "* (100 - discount_percent)")
        assert (kept[0], kept[2], kept[3]) == (PRICES, PRICES, mended)
        assert (surroundings.project / "prices.py").read_text() == mended
