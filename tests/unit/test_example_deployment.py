"""The deployment of the examples: killed anywhere, each stage runs once, and is undone once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import agentjournal as aj
from agentjournal.testing import Ledger, MemoryLog, crash_everywhere, memory_log
from examples import deployment
from examples.cluster import FolderCluster, StageFailed
from examples.deployment import ship


class Cluster:
    """A cluster whose answers are on their way for an await each."""

    def __init__(self, *, fails_in: str = "") -> None:
        self.ledger, self._fails_in = Ledger(), fails_in

    async def act(self, name: str, /, *, key: str) -> str:
        if name == self._fails_in:
            await asyncio.sleep(0)
            raise StageFailed(name)
        return str(await self.ledger.act(name, key=key, answer=f"{name}: done"))

    async def found(self, key: str) -> str | None:
        await asyncio.sleep(0)
        return str(self.ledger.answer_to(key)) if self.ledger.has(key) else None


class Killed(BaseException):
    """The process ends here."""


def effects(cluster: Cluster) -> list[str]:
    return [effect.name for effect in cluster.ledger]


def statuses(plan: aj.PlanState) -> dict[str, str]:
    return {step.step_id: step.status for step in plan.steps.values()}


async def test_every_stage_runs_once_wherever_it_is_killed() -> None:
    cluster = Cluster()

    async def main(log: MemoryLog) -> None:
        assert (await ship(log, "monday", "7", cluster)).status == "completed"

    report = await crash_everywhere(main, effects=cluster.ledger)
    assert report.awaits > 20
    assert effects(cluster) == ["build", "migrate", "deploy", "check"]


async def test_what_was_done_is_undone_once_when_a_stage_fails() -> None:
    cluster = Cluster(fails_in="check")

    async def main(log: MemoryLog) -> None:
        plan = await ship(log, "monday", "7", cluster)
        assert statuses(plan) == {
            "build": "rolled_back",
            "migrate": "rolled_back",
            "deploy": "rolled_back",
            "check": "failed",
            "undo:deploy": "completed",
            "undo:migrate": "completed",
        }
        assert (plan.status, plan.reason) == ("abandoned", "failed in check")
        assert plan.steps["check"].attempt >= 2

    wanted = ["build", "migrate", "deploy", "start the old release", "drop the new columns"]
    assert await crash_everywhere(main, effects=cluster.ledger)
    assert effects(cluster) == wanted
    assert await crash_everywhere(main, effects=cluster.ledger, kills=3, limit=3)
    assert effects(cluster) == wanted


async def test_a_second_session_goes_on_with_what_the_first_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = FolderCluster(tmp_path)
    act = cluster.act

    async def dies_in_deploy(name: str, /, *, key: str) -> str:
        done = await act(name, key=key)
        if name == "deploy":
            raise Killed
        return done

    async with memory_log() as log:
        monkeypatch.setattr(cluster, "act", dies_in_deploy)
        with pytest.raises(Killed):
            await ship(log, "monday", "7", cluster)
        log.clock.advance(2 * deployment.LEASE_S)

        later = log.beside()
        plan = await ship(later, "tuesday", "7", FolderCluster(tmp_path))
        assert set(statuses(plan).values()) == {"completed"}
        assert plan.steps["deploy"].settled_by == "verifier"
        for session_id in ("monday", "tuesday"):
            begun = await anext(later.session(session_id).events())
            assert begun.data["task_id"] == "ship-7"
    done = (tmp_path / "cluster.jsonl").read_text().splitlines()
    assert len(done) == 4
