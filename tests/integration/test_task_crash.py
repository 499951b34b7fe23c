"""A task whose workers are killed one after the other: all is done once, and undone once."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from agentjournal.settings import Settings
from tests import warm
from tests.deployer import World, deploy, undo
from tests.servers import connected, environment_of, query, within

pytestmark = pytest.mark.stack


async def killed(settings: Settings, *arguments: str) -> None:
    """Run a worker in a process of its own, that dies in the step it was told."""
    worker = warm.start("tests.deployer", arguments, environment_of(settings), warm.OURS)
    assert await within(worker.ended(), timeout_s=60) == -signal.SIGKILL


async def test_every_effect_happens_once_and_is_undone_once(
    journal: Settings, tmp_path: Path
) -> None:
    path = tmp_path / "world"
    async with connected(journal) as log:
        tenant = log.settings.tenant

        async def dies_in(step: str, *more: str) -> None:
            await killed(journal, tenant, str(path), step, *more)

        await dies_in("build")
        await dies_in("deploy")
        assert sorted(World(path).effects().values()) == ["build", "deploy"]
        plan = await deploy(log.task("deploy-17"), World(path))
        assert plan.state.status == "completed"
        steps = await query(
            journal,
            "SELECT step_id, status, attempt, attempt_group, settled_by FROM agentjournal.steps"
            f" WHERE tenant = '{tenant}' ORDER BY planned_index",
        )
        assert [tuple(row.values()) for row in steps] == [
            ("build", "completed", 2, 1, None),  # run again under its key
            ("deploy", "completed", 1, 1, "verifier"),
            ("notify", "completed", 1, 1, None),
        ]

        await dies_in("undo:build", "undo")
        again = await log.task("deploy-17").load_plan("p")
        assert await again.next() == []
        await undo(again, World(path))
        assert sorted(World(path).effects().values()) == [
            *("build", "deploy", "notify", "undo:build", "undo:deploy"),
        ]
        state = (await log.task("deploy-17").load()).plans["p"]
        assert (state.status, state.steps["deploy"].status, state.steps["build"].status) == (
            *("abandoned", "rolled_back"),
            "rolled_back",
        )
