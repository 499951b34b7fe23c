"""How long a session of 3,000 events takes to load, to read the end of, and to show to a model."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping

import agentjournal
from agentjournal.log import Log
from agentjournal.session import Session
from agentjournal.settings import Settings
from benchmarks.harness import percentile, role_process
from benchmarks.load import words
from benchmarks.turns import write_session

EVENTS = 3_000
LAST = 20
SAMPLES, WARM_UP = 60, 5
BUDGET = 8_000  # tokens; the session has twenty times that

Figures = Mapping[str, tuple[float, str]]


async def reading(settings: Settings) -> Figures:
    """Load it whole through new handles, read its last events, show it to a model turn by turn."""
    async with (
        role_process(settings, "sequencer"),
        role_process(settings, "projector"),
        Log(settings) as log,
    ):
        await write_session(log, EVENTS)
        await log.session("bench").load(timeout_s=60)  # the read models show it
        await _loaded(log)  # every connection is open
        window_ms, first_ms = await _windows(log.session("bench"))
        return {
            "load.3000": (await _p50(lambda: _loaded(log)), "ms"),
            "load.last20": (await _p50(lambda: _last(log)), "ms"),
            "window.3000": (window_ms, "ms"),
            "window.3000.first": (first_ms, "ms"),
        }


async def _loaded(log: Log) -> None:
    state = await log.session("bench").load()
    if state.version < EVENTS:
        raise RuntimeError(f"{state.version} of {EVENTS} events were loaded")


async def _last(log: Log) -> None:
    read = [each async for each in log.session("bench").events(after=EVENTS - LAST)]
    if len(read) < LAST:
        raise RuntimeError(f"{len(read)} of the last {LAST} events were read")


async def _windows(session: Session) -> tuple[float, float]:
    """Return the median and the first time of windows, each taken after a new message."""
    times: list[float] = []
    for _ in range(SAMPLES):
        message = agentjournal.MessageAdded(role="user", content=words(20))
        await session.append(message)
        times.append(await _took_ms(lambda: session.window(max_tokens=BUDGET)))
    return percentile(times, 50), times[0]


async def _p50(call: Callable[[], Awaitable[object]]) -> float:
    times = [await _took_ms(call) for _ in range(WARM_UP + SAMPLES)]
    return percentile(times[WARM_UP:], 50)


async def _took_ms(call: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await call()
    return (time.perf_counter() - began) * 1_000
