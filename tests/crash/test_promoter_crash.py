"""A promoter dies at every step: every session is promoted once, and no fact is there twice."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from pathlib import Path

import pytest

from agentjournal import Log, SessionEnded, SessionUpdated
from agentjournal.events import Entity
from agentjournal.settings import Settings
from consumers.promoter import FAULT_POINTS
from tests.crash.roles import role
from tests.janitors import met
from tests.promoted import said
from tests.servers import query

pytestmark = [pytest.mark.stack, pytest.mark.timeout(170)]

# A session has facts for two streams: one dies with one of them written, and the other not.
CUTS = [*((point, 1) for point in FAULT_POINTS), ("learned", 2)]


async def begin(log: Log, numbers: range) -> None:
    project = SessionUpdated(entities=[Entity(kind="project", id="p")])
    await asyncio.gather(
        *(
            log.session(f"s-{number}", user=f"u-{number % 3}").append(
                [project, said(f"city*=c-{number}\nproject topic*=t-{number}"), SessionEnded()]
            )
            for number in numbers
        )
    )


async def counted(settings: Settings, column: str, event_type: str) -> Counter[str]:
    """Return how often events of this type have each value of a column."""
    found = await query(
        settings,
        f"SELECT {column} AS what FROM agentjournal.events WHERE type = '{event_type}'",
    )
    return Counter(row["what"] for row in found)


async def test_every_step_cut_once_promotes_once(crash_settings: Settings, tmp_path: Path) -> None:
    settings = crash_settings
    async with (
        Log(settings) as log,
        role(settings, "sequencer", tmp_path / "sequencer.log"),
        role(settings, "projector", tmp_path / "projector.log"),
    ):
        for number, (point, nth) in enumerate(CUTS):
            await begin(log, range(2 * number, 2 * number + 2))
            file = tmp_path / f"{point}.log"
            async with role(settings, "promoter", file, cut_at=point, nth=nth) as cut:
                async with asyncio.timeout(30):
                    assert await cut.died() == -signal.SIGKILL, point
        # Two at once deal with what is left.
        async with (
            role(settings, "promoter", tmp_path / "one.log"),
            role(settings, "promoter", tmp_path / "two.log"),
        ):
            count = 2 * len(CUTS)

            async def all_promoted() -> bool:
                return len(await counted(settings, "stream", "promotion.completed")) == count

            await met(all_promoted, timeout_s=60)
        promoted = await counted(settings, "stream", "promotion.completed")
        facts = await counted(settings, "data->>'fact_id'", "fact.learned")
        assert set(promoted.values()) == {1}
        assert (len(facts), set(facts.values())) == (2 * count, {1})
        values = await counted(settings, "data->>'value'", "fact.learned")
        assert set(values) == {f"{what}-{n}" for what in "ct" for n in range(count)}
        assert await query(settings, "SELECT FROM agentjournal_internal.refused") == []
