"""A tree of sessions whose workers are killed again and again: it recovers as a whole."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from random import Random

import pytest

from agentjournal import MessageAdded
from agentjournal.settings import Settings
from tests import warm
from tests.agents import types
from tests.firm import ANSWER, Firm
from tests.servers import connected, environment_of, within

pytestmark = pytest.mark.stack

LIVES = 3
SEEDS = os.environ.get("SEEDS", "1").split(",")  # SEEDS=2,3,4 looks longer
MOST_APPENDS = 9  # of one life; a whole run has about 25


async def life(settings: Settings, tenant: str, world: Path, dies_at: int) -> int:
    """Run the firm's workers in a process of their own; return how it ended."""
    arguments = tenant, str(world), str(dies_at)
    running = warm.start("tests.firm", arguments, environment_of(settings), warm.OURS)
    return await within(running.ended(), timeout_s=60)


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_tree_whose_workers_are_killed_comes_to_its_answer(
    journal: Settings, tmp_path: Path, seed: str
) -> None:
    firm, chance = Firm(tmp_path / "world"), Random(seed)
    async with connected(journal) as log:
        tenant, boss = log.settings.tenant, log.session("boss", agent="boss")
        await boss.append(MessageAdded(role="user", content="How many beans?"))
        for _ in range(LIVES):
            dies_at = chance.randint(1, MOST_APPENDS)
            ended = await life(journal, tenant, firm.world, dies_at)
            assert ended == -signal.SIGKILL, f"at append {dies_at}"
        assert await life(journal, tenant, firm.world, 0) == 0
        assert (await log.session("boss").load()).messages[-1].text == ANSWER
        assert len(firm.effects()) == 1
        sessions = [each async for each in log.sessions()]
        assert sorted(each.agent or "" for each in sessions) == ["boss", "counter", "lead"]
        for each in sessions:
            results = await types(log.session(each.session_id), "handoff.c", "handoff.f")
            assert len(results) == (each.agent != "counter")
