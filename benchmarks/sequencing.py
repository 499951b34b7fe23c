"""How fast the sequencer empties a full log, and how fast it comes back after a crash."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Mapping

from agentjournal.ids import stream_id
from agentjournal.partitions import partition_of
from agentjournal.settings import Settings
from benchmarks.harness import role_process
from benchmarks.load import SESSIONS, Counter, batches_of, fill, requests
from benchmarks.relay import make_topic, relay_seconds
from consumers.roles import run_sequencer

SINGLES, BATCHES, EVENTS_A_BATCH = 60_000, 5_000, 20
RECOVERED = 100_000

Figures = Mapping[str, tuple[float, str]]


async def drain(settings: Settings) -> Figures:
    """1 event a request, beside a relay of records of the same size."""
    return await _drain(settings, "sequencer.drain", SINGLES, 1)


async def drain20(settings: Settings) -> Figures:
    """20 events a request, beside a relay of as many records of one event's size."""
    return await _drain(settings, "sequencer.drain20", BATCHES, EVENTS_A_BATCH)


async def _drain(settings: Settings, name: str, count: int, events: int) -> Figures:
    await fill(settings, settings.appends, requests(count, events))
    took = await _sequenced_s(settings, count * events)
    raw = f"{settings.topic_prefix}raw"
    await make_topic(settings, raw)
    await fill(settings, raw, requests(count * events, 1))
    yardstick = await relay_seconds(settings, raw, count * events)
    total = count * events
    return {name: (total / took, "events/s"), f"{name}.raw": (total / yardstick, "records/s")}


async def _sequenced_s(settings: Settings, events: int) -> float:
    stop = asyncio.Event()
    async with Counter(settings, settings.events) as counter:
        began = time.perf_counter()
        task = asyncio.create_task(run_sequencer(settings, stop))
        await counter.reached(events, by=task)
        took = time.perf_counter() - began
    stop.set()
    await task
    return took


async def long_session(settings: Settings) -> Figures:
    """Sequence one session of 100,000 events: the last tenth beside the first tenth."""
    stream = stream_id("session", "default", "long")
    partition = partition_of(stream.encode())
    tenth = RECOVERED // EVENTS_A_BATCH // 10
    took: list[float] = []
    async with Counter(settings, settings.events) as counter:
        stop = asyncio.Event()
        task = asyncio.create_task(run_sequencer(settings, stop))
        for number in range(10):
            records = {partition: batches_of(stream, tenth, EVENTS_A_BATCH)}
            began = time.perf_counter()
            await fill(settings, settings.appends, records)
            await counter.reached((number + 1) * tenth * EVENTS_A_BATCH, by=task)
            took.append(time.perf_counter() - began)
        stop.set()
        await task
    return {"long_session.last_to_first_tenth": (took[-1] / took[1], "ratio")}


async def recover(settings: Settings) -> Figures:
    """Take over after a crash, 100,000 events beyond the checkpoint, until new appends are in."""
    await fill(settings, settings.appends, requests(RECOVERED // EVENTS_A_BATCH, EVENTS_A_BATCH))
    async with Counter(settings, settings.events) as counter:
        async with role_process(settings, "sequencer", arguments=NEVER_SAVES) as crashed:
            await counter.reached(RECOVERED)
            os.kill(crashed, signal.SIGKILL)
        new = requests(SESSIONS, 1)
        await fill(settings, settings.appends, new)
        stop = asyncio.Event()
        began = time.perf_counter()
        task = asyncio.create_task(run_sequencer(settings, stop))
        await counter.reached(RECOVERED + SESSIONS, by=task)
        took = time.perf_counter() - began
        stop.set()
        await task
        if await counter.count() != RECOVERED + SESSIONS:
            raise RuntimeError("recovery wrote something that the log had already")
    return {"recover.100k": (took, "s")}


# A sequencer that acknowledges and never saves: everything is beyond its checkpoint.
NEVER_SAVES = (
    "-c",
    (
        "import asyncio; from agentjournal.settings import find_settings; "
        "from consumers.roles import run_sequencer; "
        "from consumers.sequencer import SequencerOptions; "
        "asyncio.run(run_sequencer(find_settings(), asyncio.Event(), "
        "options=SequencerOptions(save_every_s=1e9, save_every_appends=10**9)))"
    ),
)
