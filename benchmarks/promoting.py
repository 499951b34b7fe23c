"""How long it takes to promote a session: read it, see what it says, append it, and be told so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from itertools import cycle

import agentjournal
from agentjournal.log import Log
from agentjournal.memory.promoter import Promoter
from agentjournal.servers import servers_of
from agentjournal.settings import Settings
from benchmarks.harness import percentile, role_process
from benchmarks.load import words

EVENTS, SESSIONS, USERS, WARM_UP = 100, 60, 10, 10
SAID = (
    "I'm allergic to peanuts.",
    "I live in Berlin.",
    "My name is Rosa.",
    "I prefer trains to planes.",
)

Figures = Mapping[str, tuple[float, str]]


async def promote(settings: Settings) -> Figures:
    """Promote sessions of 100 events, one after the other, without a model, as the role does."""
    servers = servers_of(settings)
    async with (
        role_process(settings, "sequencer"),
        role_process(settings, "projector"),
        Log(settings, servers=servers) as log,
    ):
        sessions = [
            log.session(f"bench-{number}", user=f"u-{number % USERS}")
            for number in range(WARM_UP + SESSIONS)
        ]
        receipts = await asyncio.gather(*(each.append(_conversation()) for each in sessions))
        for receipt in receipts:
            await log.caught_up(receipt, timeout_s=60)
        promoter, times = Promoter(servers), list[float]()
        for session in sessions:
            began = time.perf_counter()
            done = await promoter.promote(session.stream)
            times.append((time.perf_counter() - began) * 1_000)
            if not done.promotion.said:
                raise RuntimeError(f"{session.id} says nothing")
    times = times[WARM_UP:]
    return {
        f"promote.{EVENTS}": (percentile(times, 50), "ms"),
        f"promote.{EVENTS}.p95": (percentile(times, 95), "ms"),
    }


def _conversation() -> list[agentjournal.Event]:
    """Return what is 100 events with the one that the session begins with: 25 turns with a call."""
    made = list[agentjournal.Event]()
    for number, told in zip(range(EVENTS // 4), cycle(SAID), strict=False):
        call_id, order = f"c-{number}", words(1)
        arguments = f'{{"order": "{order}"}}'
        made += [
            agentjournal.MessageAdded(role="user", content=f"{told} {_sentences(2)}"),
            agentjournal.ToolStarted(
                call_id=call_id,
                tool="look_up",
                arguments_text=arguments,
                arguments_digest=agentjournal.arguments_digest("look_up", arguments),
                effect="read",
                idempotency_key=call_id,
                attempt=1,
                lease_s=60,
                kind="function",
            ),
            agentjournal.ToolCompleted(
                call_id=call_id, attempt=1, output=_sentences(6), duration_ms=20
            ),
            agentjournal.MessageAdded(role="assistant", content=_sentences(6)),
        ]
    return made[: EVENTS - 1]


def _sentences(count: int) -> str:
    return " ".join(f"{words(10).capitalize()}." for _ in range(count))
