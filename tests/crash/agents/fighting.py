"""A worker that takes a session whenever it can, and records effects while it holds it."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter

from agentjournal import AgentJournalError, Log
from agentjournal.settings import Settings, find_settings

LEASE_S = 0.3


async def fight(settings: Settings, session_id: str, worker: str, seconds: float) -> Counter[str]:
    """Return how often it held the session, and by which errors it ended otherwise."""
    ended: Counter[str] = Counter()
    until = time.monotonic() + seconds
    async with Log(settings) as log:
        session = log.session(session_id)
        while time.monotonic() < until:
            try:
                async with session.resume(worker=worker, lease_s=LEASE_S, wait_s=0.2) as run:
                    for number in range(10):
                        effect = run.call("write", {"by": worker, "n": number}, effect="read")
                        async with effect as call:
                            await call.complete("written")
                ended["held"] += 1
            except AgentJournalError as error:
                ended[type(error).__name__] += 1
    return ended


if __name__ == "__main__":
    _, name, by, how_long = sys.argv
    fought = asyncio.run(fight(find_settings(), name, by, float(how_long)))
    sys.stdout.write(json.dumps(fought))
