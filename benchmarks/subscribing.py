"""How many events a second one subscriber takes from the log, and what a service adds to that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import Any

from agentjournal.envelope import Recorded
from agentjournal.log import Log
from agentjournal.settings import Settings
from benchmarks.harness import role_process
from benchmarks.load import Counter, fill, requests

REQUESTS, A_REQUEST = 3_000, 20
EVENTS = REQUESTS * A_REQUEST
WARM_UP = 2_000

Figures = Mapping[str, tuple[float, str]]


async def subscribe(settings: Settings) -> Figures:
    """Read a log of messages as `Recorded`, then with their data, as models, and by a service."""
    await _written(settings)
    async with Log(settings) as log:
        return {
            "subscribe": (await _read(log, "recorded", lambda _: None), "events/s"),
            "subscribe.data": (await _read(log, "data", lambda e: e.data), "events/s"),
            "subscribe.model": (await _read(log, "model", lambda e: e.event), "events/s"),
            "subscribe.service": (await _served(log), "events/s"),
        }


async def _written(settings: Settings) -> None:
    await fill(settings, settings.appends, requests(REQUESTS, A_REQUEST))
    async with role_process(settings, "sequencer"), Counter(settings, settings.events) as written:
        await written.reached(EVENTS)


async def _read(log: Log, group: str, look: Callable[[Recorded], object]) -> float:
    """Return the rate from the first events on: joining the group is no part of it."""
    seen, began = 0, 0.0
    reading: Any = log.subscribe(group=group)
    async with aclosing(reading) as events:
        async for event in events:
            look(event)
            seen += 1
            if seen == WARM_UP:
                began = time.perf_counter()
            if seen == EVENTS:
                break
    return (EVENTS - WARM_UP) / (time.perf_counter() - began)


async def _served(log: Log) -> float:
    seen, times = 0, [0.0]
    service = log.service("service")

    async def handle(_: Recorded) -> None:
        nonlocal seen
        seen += 1
        if seen == WARM_UP:
            times[0] = time.perf_counter()
        if seen == EVENTS:
            times.append(time.perf_counter())
            service.stop()

    async with asyncio.timeout(120):
        await service.run(handle)
    return (EVENTS - WARM_UP) / (times[1] - times[0])
