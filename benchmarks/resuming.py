"""How long it takes to take a session over, and what recording a tool call adds to its effect."""

from __future__ import annotations

import time
from collections.abc import Mapping

from agentjournal.log import Log
from agentjournal.run import Run
from agentjournal.settings import Settings
from benchmarks.appending import WARM_UP as RELAY_WARM_UP
from benchmarks.appending import relayed
from benchmarks.harness import percentile, role_process
from benchmarks.load import words
from benchmarks.turns import write_session

EVENTS = 3_000
RESUMES, CALLS, WARM_UP = 40, 400, 20

Figures = Mapping[str, tuple[float, str]]


async def resume(settings: Settings) -> Figures:
    """Take a session of 3,000 events over through new handles, until the run is there."""
    async with (
        role_process(settings, "sequencer"),
        role_process(settings, "projector"),
        Log(settings) as log,
    ):
        await write_session(log, EVENTS)
        times = [await _resumed_ms(log) for _ in range(WARM_UP + RESUMES)][WARM_UP:]
    return {
        "resume.3000": (percentile(times, 50), "ms"),
        "resume.3000.p99": (percentile(times, 99), "ms"),
    }


async def _resumed_ms(log: Log) -> float:
    await log.session("bench").load(timeout_s=60)  # the read models show the last release
    began = time.perf_counter()
    run = await log.session("bench").resume()
    took_ms = (time.perf_counter() - began) * 1_000
    if len(run.state.calls) < EVENTS // 10:
        raise RuntimeError(f"{len(run.state.calls)} calls of {EVENTS // 10} are known")
    await run.release()
    return took_ms


async def call(settings: Settings) -> Figures:
    """Record a call around an effect that does nothing; beside two records through a raw relay."""
    async with (
        role_process(settings, "sequencer"),
        role_process(settings, "projector"),
        Log(settings) as log,
        log.session("bench", agent="bench").resume() as run,
    ):
        times = [await _called_ms(run) for _ in range(WARM_UP + CALLS)][WARM_UP:]
    raw = (await relayed(settings))[RELAY_WARM_UP:]
    pairs = [first + second for first, second in zip(raw[::2], raw[1::2], strict=False)]
    return {
        "call.overhead": (percentile(times, 50), "ms"),
        "call.overhead.raw": (percentile(pairs, 50), "ms"),
        "call.overhead.p99": (percentile(times, 99), "ms"),
        "call.overhead.p99.raw": (percentile(pairs, 99), "ms"),
    }


async def _called_ms(run: Run) -> float:
    arguments = {"order": 48_213, "reason": words(6)}
    began = time.perf_counter()
    async with run.call("look_up", arguments) as calling:
        await calling.complete("sent")
    return (time.perf_counter() - began) * 1_000
