"""Two workers want one session, and are stopped at random: who lost the lease changes nothing."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from agentjournal import Log
from agentjournal.envelope import Recorded
from agentjournal.settings import Settings
from tests import warm
from tests.servers import environment_of

pytestmark = [pytest.mark.stack, pytest.mark.timeout(180)]

SECONDS = 60 if os.environ.get("CRASHES") == "all" else 20
SEED = 20_261_130
WORKERS = ("w-1", "w-2")


def worker(settings: Settings, name: str, told: Path) -> warm.Forked:
    """Start a worker that fights for the session `ring`."""
    arguments = "ring", name, str(SECONDS)
    with told.open("wb") as output:
        streams = 0, output.fileno(), 2
        environment = environment_of(settings)
        return warm.start("tests.crash.agents.fighting", arguments, environment, streams)


async def stop_at_random(fighters: list[warm.Forked]) -> int:
    """Stop one or the other for up to three leases, until both have ended; return how often."""
    rng, stops = random.Random(SEED), 0
    while all(fighter.poll() is None for fighter in fighters):
        fighter = rng.choice(fighters)
        fighter.send_signal(signal.SIGSTOP)
        await asyncio.sleep(rng.uniform(0.05, 0.9))
        fighter.send_signal(signal.SIGCONT)
        await asyncio.sleep(rng.uniform(0.05, 0.5))
        stops += 1
    return stops


def check_leases(events: list[Recorded]) -> Counter[str]:
    """Check that all was written by who held the lease; return how much each wrote."""
    holder: str | None = None
    fence: int | None = None
    wrote: Counter[str] = Counter()
    for event in events:
        if event.type == "lease.acquired":
            holder, fence = event.data["holder"], event.version
        elif event.type != "session.started":
            assert (event.worker, event.fence) == (holder, fence), event
            wrote[holder or ""] += event.type == "tool.completed"
            if event.type == "lease.released":
                holder, fence = None, None
    return wrote


async def test_no_worker_writes_without_the_lease(journal: Settings, tmp_path: Path) -> None:
    fighters = [worker(journal, name, tmp_path / name) for name in WORKERS]
    stops = await stop_at_random(fighters)
    assert [await fighter.ended() for fighter in fighters] == [0, 0]
    ended: Counter[str] = Counter()
    for name in WORKERS:
        ended.update(json.loads((tmp_path / name).read_text()))
    async with Log(journal) as log:
        events = [event async for event in log.session("ring").events()]
    wrote = check_leases(events)
    assert stops > SECONDS / 2
    assert min(wrote[name] for name in WORKERS) > 0
    assert ended["held"] > 0
    assert ended["LeaseLost"] > 0, ended
