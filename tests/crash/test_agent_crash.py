"""An agent is killed at each of its awaits: it goes on, and no effect happens twice."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from agentjournal import Log, SessionState
from agentjournal.settings import Settings
from local.stack import Stack
from tests.crash.agents.lives import KILLED, Life, Lives, lives
from tests.crash.agents.paying import STEPS
from tests.crash.agents.payments import Payments, payment_server
from tests.crash.roles import role

pytestmark = [pytest.mark.stack, pytest.mark.timeout(400)]

SEED = 20_261_130
# CRASHES=all kills at every await, in 30 pairs, and each server ten times. That takes some minutes.
WHOLE = os.environ.get("CRASHES") == "all"
EVERY, PAIRS, KILLS = (1, 30, 10) if WHOLE else (4, 6, 3)
MOST_LIVES = 30


def what_counts(state: SessionState) -> dict[str, Any]:
    """Return what a session came to, without what differs from one course to another."""
    return {
        "messages": [(m.message_id, m.role, m.text, m.status) for m in state.messages],
        "calls": {
            c.call_id: (c.tool, c.arguments_text, c.outcome, c.output, c.idempotency_key)
            for c in state.calls.values()
        },
        "turn": state.turn_id,
        "lease": state.lease,
    }


async def came_to(log: Log, session_id: str) -> dict[str, Any]:
    """Return what counts of a session, its keys told apart from those of others."""
    found = what_counts(await log.session(session_id).load())
    keys = [key for *_, key in found["calls"].values()]
    assert len(set(keys)) == STEPS
    found["calls"] = {call_id: rest[:-1] for call_id, rest in found["calls"].items()}
    return found


async def all_paid_once(payments: Payments, sessions: int) -> bool:
    """Whether every order of every session was charged exactly once."""
    return set(payments.charges.values()) == {sessions} and len(payments.charges) == STEPS


async def killed_at(asked: Lives, kills: dict[str, tuple[int, ...]]) -> dict[str, list[Life]]:
    """Return the lives of sessions by their ids, each killed at its awaits in turn."""
    ended = await asyncio.gather(*(asked.until_done(s, *at) for s, at in kills.items()))
    return dict(zip(kills, ended, strict=True))


async def test_an_agent_goes_on_wherever_it_was_killed(journal: Settings) -> None:
    async with (
        payment_server() as (payments, port),
        lives(journal, port) as asked,
        Log(journal) as log,
    ):
        (whole,) = await asked.until_done("kill-0")
        assert (whole.status, payments.charges.total()) == (0, STEPS)
        assert whole.awaits is not None
        expected = await came_to(log, "kill-0")
        kills: dict[str, tuple[int, ...]] = {}
        kills |= {f"kill-{n}": (n,) for n in range(1, whole.awaits + 1, EVERY)}
        rng = random.Random(SEED)
        pairs: dict[str, tuple[int, ...]] = {
            f"pair-{n}": (rng.randint(1, whole.awaits), rng.randint(1, whole.awaits))
            for n in range(PAIRS)
        }
        ended = await killed_at(asked, kills | pairs)
        for session_id, states in ended.items():
            assert states[-1].status == 0, session_id
            assert {life.status for life in states[:-1]} <= {KILLED, 0}, session_id
            assert await came_to(log, session_id) == expected, session_id
        killed = sum(life.status == KILLED for states in ended.values() for life in states)
        assert killed > 0.8 * (len(kills) + 2 * len(pairs))
        assert await all_paid_once(payments, 1 + len(ended))


async def agents_while(asked: Lives, name: str, going_on: asyncio.Event) -> int:
    """Let agents live one after the other, two at a time, until it is over; return how many.

    One that ends since a server is away is started again.
    """
    numbers = itertools.count()

    async def one_by_one() -> int:
        done = 0
        while not done or going_on.is_set():
            session_id = f"{name}-{next(numbers)}"
            lives_left = MOST_LIVES
            while (await asked.until_done(session_id))[0].status != 0:
                lives_left -= 1
                assert lives_left, session_id
            done += 1
        return done

    return sum(await asyncio.gather(one_by_one(), one_by_one()))


@pytest.mark.parametrize("killed", ["sequencer", "projector", "kafka"])
async def test_an_agent_goes_on_when_what_it_relies_on_is_killed(
    crash_stack: Stack, crash_settings: Settings, tmp_path: Path, killed: str
) -> None:
    settings, rng = crash_settings, random.Random(f"{SEED} {killed}")
    async with AsyncExitStack() as others, payment_server() as (payments, port):
        kept = [name for name in ("sequencer", "projector") if name != killed]
        for name in kept:
            await others.enter_async_context(role(settings, name, tmp_path / f"{name}.log"))
        asked = await others.enter_async_context(lives(settings, port))
        going_on = asyncio.Event()
        going_on.set()
        agents = asyncio.create_task(agents_while(asked, killed, going_on))
        for number in range(KILLS):
            charged = payments.charges.total() + rng.randint(1, 6)
            if killed == "kafka":
                await reached(payments, charged)
                await asyncio.to_thread(crash_stack.kill, killed)
                await asyncio.to_thread(crash_stack.start, killed)
                continue
            said = tmp_path / f"{killed}-{number}.log"
            async with role(settings, killed, said) as process:
                await reached(payments, charged)
                process.signal(signal.SIGKILL)
                await process.died()
        if killed != "kafka":
            last = tmp_path / f"{killed}-last.log"
            await others.enter_async_context(role(settings, killed, last))
        going_on.clear()
        count = await agents
        assert count >= 2
        assert set(payments.charges.values()) == {count}
        async with Log(settings) as log:
            found = [await came_to(log, f"{killed}-{n}") for n in range(count)]
        assert all(each == found[0] for each in found)


async def reached(payments: Payments, charges: int) -> None:
    """Return once so much was charged."""
    async with asyncio.timeout(60):
        while payments.charges.total() < charges:  # noqa: ASYNC110 - other processes tell nobody
            await asyncio.sleep(0.005)
