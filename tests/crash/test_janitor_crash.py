"""A janitor dies at every step: what is to happen once happens once all the same."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from pathlib import Path

import pytest

from agentjournal import Log, MessageAdded
from agentjournal.settings import Settings
from consumers.janitor import FAULT_POINTS
from tests.crash.roles import role
from tests.crash.row_check import everything_projected
from tests.janitors import alerts_of, met, refused_of, with_status
from tests.servers import query

pytestmark = [pytest.mark.stack, pytest.mark.timeout(170)]

IDLE = {f"idle-{n}" for n in range(32)}
OVER = {f"over-{n}" for n in range(16)}


async def begin(log: Log) -> None:
    said = MessageAdded(role="user", content="hi")
    idle = [log.session(name, ttl_s=0).append(said) for name in sorted(IDLE)]
    over = [log.session(name, limits={"events": 1}).append(said) for name in sorted(OVER)]
    await asyncio.gather(*idle, *over)


async def recorded(settings: Settings, event_type: str) -> Counter[str]:
    """Return how often sessions have an event of this type."""
    found = await query(
        settings,
        f"SELECT session_id FROM agentjournal.events WHERE type = '{event_type}'",
    )
    return Counter(row["session_id"] for row in found)


async def test_every_step_cut_once_expires_and_warns_once(
    crash_settings: Settings, tmp_path: Path
) -> None:
    settings = crash_settings
    async with (
        Log(settings) as log,
        role(settings, "sequencer", tmp_path / "sequencer.log"),
        role(settings, "projector", tmp_path / "projector.log"),
    ):
        await begin(log)
        await everything_projected(settings)
        for point in FAULT_POINTS:
            file = tmp_path / f"{point}.log"
            async with role(settings, "janitor", file, cut_at=point) as cut:
                async with asyncio.timeout(30):
                    assert await cut.died() == -signal.SIGKILL, point
        async with role(settings, "janitor", tmp_path / "last.log"):

            async def all_told() -> bool:
                told = await query(settings, "SELECT FROM agentjournal_internal.alerted")
                return len(told) >= len(OVER)

            await met(all_told)
        assert await with_status(log, "expired") == IDLE
        await everything_projected(settings)
        assert await recorded(settings, "session.expired") == Counter(IDLE)
        assert await recorded(settings, "limit.exceeded") == Counter(OVER)
        assert await refused_of(log) == []
        alerts = await alerts_of(log)
        # At least once: whoever died between an alert and noting it had written two.
        assert len({each.alert_id for each in alerts}) == len(OVER)
        assert len(alerts) <= len(OVER) + 2
