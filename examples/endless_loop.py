"""An agent that calls the same tool for ever: its session's limit ends it, and somebody is told."""

from __future__ import annotations

import asyncio
import secrets

import agentjournal as aj
from agentjournal.kafka_alerts import AlertReader
from examples.terminal import agentjournal, say

LIMIT = aj.Limit(maximum=30, policy="refuse")  # events
PATIENCE_S = 60


async def endless_loop(log: aj.Log) -> None:
    """Let the agent go on until it may not, and show who hears of it."""
    session = log.session(f"loop-{secrets.token_hex(3)}", agent="search", limits={"events": LIMIT})
    calls = 0
    try:
        while True:
            async with session.call("search", {"query": "the answer"}, effect="read") as call:
                calls += 1
                await call.complete("nothing found")
    except aj.LimitExceeded as refused:
        say(f"after {calls} calls: {refused}")
    await told_of(log, session)
    agentjournal("alerts", "--kind", "runaway_loop", "--limit", "1")
    agentjournal("top", "--once")


async def told_of(log: aj.Log, session: aj.Session) -> None:
    """Return once there is an alert about the session. Raises TimeoutError."""
    async with asyncio.timeout(PATIENCE_S), AlertReader(log.settings) as reader:
        async for found in reader.kept(last=1_000):
            if is_about(found, session):
                return
        async for found in reader.written():
            if is_about(found, session):
                return


def is_about(found: object, session: aj.Session) -> bool:
    """Return whether it is an alert about the session."""
    return getattr(found, "subject", None) == session.stream
