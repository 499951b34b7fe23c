"""The lives of agents: each in a process of its own, ended by itself or by a kill."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

from agentjournal.settings import Settings
from tests import warm
from tests.servers import environment_of

KILLED = -9
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Life:
    """How a life ended; `awaits` it had, when it was not killed."""

    status: int
    awaits: int | None


@dataclass(eq=False)
class Lives:
    """Asks for lives of agents."""

    _said: asyncio.StreamReader
    _asking: asyncio.StreamWriter
    _waiting: dict[int, asyncio.Future[Life]] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=count)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def live(self, session_id: str, kill_at: int | None = None) -> Life:
        """Return how one life of a session's agent ended."""
        number = next(self._numbers)
        ended = self._waiting[number] = asyncio.get_running_loop().create_future()
        asked = {"life": number, "session": session_id, "kill_at": kill_at}
        self._asking.write(json.dumps(asked).encode() + b"\n")
        life: Life = await ended
        return life

    async def until_done(self, session_id: str, *kills: int) -> list[Life]:
        """Return a session's lives: each is killed at one of `kills`, and the last is left alone.

        A life that ends before its kill has done its work; one more must find nothing to do.
        """
        async with self._slots:
            return [await self.live(session_id, kill_at) for kill_at in (*kills, None)]

    async def read(self) -> None:
        """Take what comes back, until nothing does."""
        async for line in self._said:
            said = json.loads(line)
            self._waiting.pop(said["life"]).set_result(Life(said["status"], said["awaits"]))


@asynccontextmanager
async def lives(settings: Settings, port: int) -> AsyncGenerator[Lives]:
    """Let agents live until the end of the block; they pay at the payment server on `port`."""
    program = "tests.crash.agents"
    async with warm.spoken_with(program, [str(port)], environment_of(settings)) as spoken:
        asked = Lives(*spoken)
        reading = asyncio.create_task(asked.read())
        yield asked
    await reading
