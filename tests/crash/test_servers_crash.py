"""A server dies under load and comes back: appends wait or say so, and all catches up by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agentjournal.settings import Settings
from local.stack import Stack
from tests.crash.log_check import check_log
from tests.crash.roles import role
from tests.crash.row_check import check_rows, everything_projected
from tests.crash.writers import Load

pytestmark = [pytest.mark.stack, pytest.mark.timeout(170)]


@pytest.mark.parametrize("server", ["kafka", "postgres", "redis"])
async def test_a_server_that_dies_and_comes_back_costs_nothing(
    crash_stack: Stack, crash_settings: Settings, tmp_path: Path, server: str
) -> None:
    async with (
        role(crash_settings, "sequencer", tmp_path / "sequencer.log"),
        role(crash_settings, "projector", tmp_path / "projector.log"),
        Load(crash_settings, writers=4) as load,
    ):
        await load.goes_on(100)
        await asyncio.to_thread(crash_stack.kill, server)
        await asyncio.to_thread(crash_stack.start, server)
        await load.goes_on(100, within_s=30)
        await load.finish()
        await everything_projected(crash_settings, within_s=30)
    assert await check_log(crash_settings, load.writers) > load.acknowledged
    assert await check_rows(crash_settings) > load.acknowledged
