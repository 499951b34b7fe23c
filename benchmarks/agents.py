"""How long an append takes while many agents of one process write at a steady rate."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from agentjournal.log import Log
from agentjournal.run import Run
from agentjournal.settings import Settings
from benchmarks.harness import percentile, role_process
from benchmarks.load import message

AGENTS, EVENTS_A_SECOND = 200, 5
SECONDS, WARM_UP_S = 15, 3
_STARTING = 16  # agents that take their sessions at once

Figures = Mapping[str, tuple[float, str]]


async def agents(settings: Settings) -> Figures:
    """Let each agent append an event every 200 ms under its lease, spread evenly over time.

    An append's time counts from when it was due: one that waits for the one before is late.
    """
    async with (
        role_process(settings, "sequencer"),
        role_process(settings, "projector"),
        Log(settings) as log,
    ):
        runs = await _started(log)
        began = time.perf_counter() + 0.5
        taken = await asyncio.gather(
            *(_work(run, began + n / (AGENTS * EVENTS_A_SECOND)) for n, run in enumerate(runs))
        )
        took = time.perf_counter() - began
        await asyncio.gather(*(run.release() for run in runs))
    times = [each for some in taken for each in some[WARM_UP_S * EVENTS_A_SECOND :]]
    return {
        "agents.200": (percentile(times, 99), "ms"),
        "agents.200.p50": (percentile(times, 50), "ms"),
        "agents.200.rate": (sum(map(len, taken)) / took, "events/s"),
    }


async def _started(log: Log) -> list[Run]:
    slots = asyncio.Semaphore(_STARTING)

    async def start(number: int) -> Run:
        async with slots:
            return await log.session(f"agent-{number}", agent="bench").resume()

    return await asyncio.gather(*(start(number) for number in range(AGENTS)))


async def _work(run: Run, first: float) -> list[float]:
    """Append at `first` and then regularly; return the milliseconds from when each was due."""
    times: list[float] = []
    for number in range((WARM_UP_S + SECONDS) * EVENTS_A_SECOND):
        due = first + number / EVENTS_A_SECOND
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        await run.append(message())
        times.append((time.perf_counter() - due) * 1_000)
    return times
