"""A subscriber is killed and started again: it sees every event, in the order of its session."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agentjournal import Log
from agentjournal.settings import Settings
from tests import warm
from tests.servers import connected, environment_of
from tests.subscriber import group
from tests.support import message

pytestmark = [pytest.mark.stack, pytest.mark.slow]

KILLED = -9
SESSIONS = 12
SEED = 20_261


class Lives:
    """Lets a subscriber live, one life after the other."""

    def __init__(
        self,
        spoken: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        asked: dict[str, Any],
    ) -> None:
        (self._answers, self._asking), self._asked = spoken, asked
        self.seen = Path(asked["seen"])

    async def begin(self) -> int:
        """Start a life; return its process."""
        self._asking.write(json.dumps(self._asked).encode() + b"\n")
        return int((await self._said())["pid"])

    async def ended(self) -> int:
        """Return how a life ended."""
        return int((await self._said())["status"])

    async def handled(self, count: int) -> None:
        """Return once so many events were handled, by whichever life."""
        async with asyncio.timeout(30):
            while self.count() < count:  # noqa: ASYNC110 - another process tells nobody
                await asyncio.sleep(0.002)

    def count(self) -> int:
        """Return how many events were handled."""
        return self.seen.read_bytes().count(b"\n") if self.seen.exists() else 0

    async def _said(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(await self._answers.readline())
        return said


@asynccontextmanager
async def lives(settings: Settings, asked: dict[str, Any]) -> AsyncGenerator[Lives]:
    program = "tests.crash.subscribers"
    async with warm.spoken_with(program, (), environment_of(settings)) as spoken:
        yield Lives(spoken, asked)


async def write(log: Log, number: int) -> None:
    """Append two events to each session."""
    appends = [
        log.session(f"s-{n}").append([message(f"{number}a"), message(f"{number}b")])
        for n in range(SESSIONS)
    ]
    await asyncio.gather(*appends)


@pytest.mark.parametrize(("how", "kills"), [("service", 30), ("subscribe", 10)])
async def test_a_subscriber_that_is_killed_misses_nothing(
    journal: Settings, tmp_path: Path, how: str, kills: int
) -> None:
    rng = random.Random(f"{SEED} {how}")
    async with connected(journal) as log:
        asked = {"how": how, "group": group(), "tenant": log.settings.tenant}
        asked["seen"] = str(tmp_path / "seen")
        async with lives(journal, asked) as subscriber:
            began: list[int] = []  # where in the file each life begins
            for number in range(kills):
                await write(log, number)
                began.append(subscriber.count())
                pid = await subscriber.begin()
                await subscriber.handled(began[-1] + rng.randint(1, 2 * SESSIONS))
                os.kill(pid, signal.SIGKILL)
                assert await subscriber.ended() == KILLED
            began.append(subscriber.count())
            pid = await subscriber.begin()
            wanted = {
                (f"session/{log.settings.tenant}/s-{n}", version)
                for n in range(SESSIONS)
                for version in range(1, 2 * kills + 2)
            }
            async with asyncio.timeout(30):
                while not wanted <= set(events_in(subscriber.seen)):  # noqa: ASYNC110 - as above
                    await asyncio.sleep(0.02)
            os.kill(pid, signal.SIGKILL)
            assert await subscriber.ended() == KILLED
    check_order(events_in(subscriber.seen), began)


def events_in(seen: Path) -> list[tuple[str, int]]:
    lines = seen.read_text().splitlines()
    return [(stream, int(version)) for stream, version in (line.split() for line in lines)]


def check_order(seen: list[tuple[str, int]], began: list[int]) -> None:
    """In a life each session goes up by one; a new life goes back, never ahead of what was seen."""
    last: dict[str, int] = defaultdict(int)
    for start, end in zip(began, [*began[1:], len(seen)], strict=True):
        in_this_life: dict[str, int] = {}
        for stream, version in seen[start:end]:
            if stream in in_this_life:
                assert version == in_this_life[stream] + 1
            else:
                assert 1 <= version <= last[stream] + 1
            in_this_life[stream] = version
            last[stream] = max(last[stream], version)
