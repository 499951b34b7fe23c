"""Roles as processes of their own, to be killed and stopped for real."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from agentjournal.settings import Settings
from tests import warm
from tests.servers import environment_of

_FAULTY = "tests.crash.faulty_role"


class RoleProcess:
    """One running role; what it logs is in `log`."""

    def __init__(self, process: warm.Forked, log: Path) -> None:
        self._process, self.log = process, log

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to it."""
        self._process.send_signal(number)

    async def died(self) -> int:
        """Return its exit status, minus the signal's number when a signal ended it."""
        return await self._process.ended()

    async def says(self, word: str, *, after: int = 0) -> None:
        """Return once `word` stands in its log, behind the first `after` characters."""
        while word not in self.log.read_text()[after:]:
            if self._process.poll() is not None:
                raise AssertionError(f"it died and never said {word!r}: {self.log.read_text()}")
            await asyncio.sleep(0.02)


@asynccontextmanager
async def role(
    settings: Settings, name: str, log: Path, *, cut_at: str = "none", nth: int = 1
) -> AsyncGenerator[RoleProcess]:
    """Run a role's test build until the end of the block."""
    with log.open("a") as output:
        arguments, said = (name, cut_at, str(nth)), output.fileno()
        process = warm.start(_FAULTY, arguments, environment_of(settings), (0, said, said))
    try:
        yield RoleProcess(process, log)
    finally:
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(10):
                await process.ended()
        except TimeoutError:
            process.send_signal(signal.SIGKILL)
            await process.ended()
