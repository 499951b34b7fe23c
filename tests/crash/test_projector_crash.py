"""A projector dies between every two statements, or has a double: the rows do not show it."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from agentjournal.log import Log
from agentjournal.settings import Settings
from consumers.kafka_log_reader import KafkaLogReader
from consumers.postgres_pool import PostgresPool
from consumers.postgres_read_models import PostgresReadModels
from consumers.postgres_rebuild import Rebuild
from consumers.projector import FAULT_POINTS, Projector, ProjectorOptions, ProjectorPorts
from consumers.roles import PROJECTIONS
from tests.crash.conversations import write_conversations
from tests.crash.roles import role
from tests.crash.row_check import check_rows, everything_projected

pytestmark = [pytest.mark.stack, pytest.mark.timeout(170)]


class Alone:
    """A membership that knows nobody else: its member takes every partition."""

    def __init__(self, member: str) -> None:
        self.member = member

    async def heartbeat(self) -> list[str]:
        return [self.member]

    async def leave(self) -> None:
        return None


async def test_every_step_cut_once_leaves_no_trace(
    crash_settings: Settings, tmp_path: Path
) -> None:
    async with (
        Log(crash_settings) as log,
        role(crash_settings, "sequencer", tmp_path / "sequencer.log"),
    ):
        for number, point in enumerate(FAULT_POINTS):
            file = tmp_path / f"{point}.log"
            async with role(crash_settings, "projector", file, cut_at=point, nth=2) as cut:
                writing = asyncio.create_task(_write_until_cancelled(log, number))
                async with asyncio.timeout(30):
                    assert await cut.died() == -signal.SIGKILL, point
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)
        async with role(crash_settings, "projector", tmp_path / "last.log"):
            await write_conversations(log, "last", 4)
            await everything_projected(crash_settings)
            async with (
                PostgresPool(crash_settings, name="rebuild", size=6) as pool,
                KafkaLogReader(crash_settings) as reader,
            ):
                rebuilt = await Rebuild(pool, reader).run(PROJECTIONS, check=False)
            assert {each.projection: each.differences for each in rebuilt} == {
                projection.name: [] for projection in PROJECTIONS
            }
            await write_conversations(log, "rebuilt", 4)
            await everything_projected(crash_settings)
    assert await check_rows(crash_settings) > 0


async def test_two_projectors_on_the_same_partitions_change_nothing_twice(
    crash_settings: Settings, tmp_path: Path
) -> None:
    stop = asyncio.Event()
    async with (
        Log(crash_settings) as log,
        role(crash_settings, "sequencer", tmp_path / "sequencer.log"),
    ):
        projectors = [asyncio.create_task(_project(crash_settings, n, stop)) for n in range(2)]
        for number in range(6):
            await write_conversations(log, f"double-{number}", 6)
        await everything_projected(crash_settings)
        stop.set()
        await asyncio.gather(*projectors)
    assert await check_rows(crash_settings) > 0


async def _project(settings: Settings, number: int, stop: asyncio.Event) -> None:
    async with (
        PostgresPool(settings, name=f"double {number}") as pool,
        KafkaLogReader(settings, most_records=7) as events,
    ):
        ports = ProjectorPorts(events, PostgresReadModels(pool), Alone(f"double {number}"))
        options = ProjectorOptions(outage_pause_s=0.01)
        await Projector(ports, PROJECTIONS, options).run(stop)


async def _write_until_cancelled(log: Log, number: int) -> None:
    for again in range(10_000):
        await write_conversations(log, f"cut-{number}-{again}", 2)
