"""A sequencer dies at every step of its loop, and at any moment: the log does not show it."""

from __future__ import annotations

import asyncio
import random
import signal
from pathlib import Path

import pytest

from agentjournal.settings import Settings
from consumers.sequencer import FAULT_POINTS
from tests.crash.log_check import check_log
from tests.crash.roles import role
from tests.crash.writers import Load

pytestmark = [pytest.mark.stack, pytest.mark.timeout(170)]


async def test_every_step_cut_once_leaves_no_trace(
    crash_settings: Settings, tmp_path: Path
) -> None:
    async with Load(crash_settings) as load:
        for point in FAULT_POINTS:
            log = tmp_path / f"{point}.log"
            async with role(crash_settings, "sequencer", log, cut_at=point, nth=3) as cut:
                async with asyncio.timeout(30):
                    assert await cut.died() == -signal.SIGKILL, point
        async with role(crash_settings, "sequencer", tmp_path / "last.log"):
            await load.goes_on(200)
            await load.finish()
    assert await check_log(crash_settings, load.writers) > load.acknowledged


@pytest.mark.parametrize("seed", [7, 11])
async def test_five_moments_under_load_leave_no_trace(
    crash_settings: Settings, tmp_path: Path, seed: int
) -> None:
    print(f"seed {seed}")  # noqa: T201 - said when the test fails
    moments = random.Random(seed)
    async with Load(crash_settings) as load:
        for number in range(5):
            async with role(crash_settings, "sequencer", tmp_path / f"{number}.log") as sequencer:
                await load.goes_on(moments.randint(1, 400))
                sequencer.signal(signal.SIGKILL)
                assert await sequencer.died() == -signal.SIGKILL
        async with role(crash_settings, "sequencer", tmp_path / "last.log"):
            await load.goes_on(100)
            await load.finish()
    assert await check_log(crash_settings, load.writers) > load.acknowledged


async def test_a_sequencer_that_was_overtaken_stops_by_itself(
    crash_settings: Settings, tmp_path: Path
) -> None:
    async with (
        Load(crash_settings) as load,
        role(crash_settings, "sequencer", tmp_path / "old.log") as old,
    ):
        await load.goes_on(300)
        old.signal(signal.SIGSTOP)
        async with role(crash_settings, "sequencer", tmp_path / "new.log") as new:
            await load.goes_on(300)  # the new one took over what the old one holds
            said_before = len(old.log.read_text())
            old.signal(signal.SIGCONT)
            # By its epoch, or because Postgres ended the transaction that it was stopped in; at the
            # latest when the ack of a batch that it was stopped over is overdue (20 s).
            async with asyncio.timeout(40):
                await old.says("starting_over", after=said_before)
            await load.goes_on(300)
            assert "IntegrityError" not in old.log.read_text() + new.log.read_text()
            await load.finish()
    assert await check_log(crash_settings, load.writers) > load.acknowledged
