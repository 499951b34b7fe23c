"""How fast read models are built anew beside the live ones, compared, and switched to."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from agentjournal.settings import Settings
from benchmarks.load import fill, requests
from benchmarks.projecting import project_s, sequence
from consumers.filling import Fillers
from consumers.kafka_log_reader import KafkaLogReader
from consumers.postgres_pool import PostgresPool
from consumers.postgres_rebuild import Rebuild
from consumers.roles import PROJECTIONS
from projections.events import EVENTS_PROJECTION
from projections.projection import Projection

EVENTS, EVENTS_A_BATCH = 100_000, 20

Figures = Mapping[str, tuple[float, str]]


async def rebuild(settings: Settings) -> Figures:
    """Rebuild `events`, then all: filled, then with comparison and switch as well."""
    await fill(settings, settings.appends, requests(EVENTS // EVENTS_A_BATCH, EVENTS_A_BATCH))
    await sequence(settings, EVENTS)
    await project_s(settings, [EVENTS])
    events_filled_s, events_s = await _rebuilt(settings, [EVENTS_PROJECTION])
    all_filled_s, all_s = await _rebuilt(settings, PROJECTIONS)
    return {
        "rebuild.events": (EVENTS / events_filled_s, "events/s"),
        "rebuild.events.switched": (EVENTS / events_s, "events/s"),
        "rebuild.all": (EVENTS / all_filled_s, "events/s"),
        "rebuild.all.switched": (EVENTS / all_s, "events/s"),
    }


async def _rebuilt(settings: Settings, projections: Sequence[Projection]) -> tuple[float, float]:
    """Return the seconds until the tables were filled, and until readers saw them."""
    began = filled = time.perf_counter()

    def fault(point: str) -> None:
        nonlocal filled
        if point == "indexed":
            filled = time.perf_counter()

    async with (
        PostgresPool(settings, name="rebuild", size=6) as pool,
        KafkaLogReader(settings, most_records=10_000) as log,
    ):
        build = Rebuild(pool, log, fault=fault, filler=Fillers(settings))
        done = await build.run(projections, check=False)
    if any(each.differences for each in done):
        raise RuntimeError(f"what was rebuilt is not what was live: {done}")
    return filled - began, time.perf_counter() - began
