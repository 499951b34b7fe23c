"""Roles in a process that serves metrics and health, and servers that stand still for a while."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import urlopen

import orjson
import psutil
from prometheus_client.parser import text_string_to_metric_families

from agentjournal.settings import Settings
from local.stack import Stack
from tests import warm
from tests.servers import environment_of


class Said(NamedTuple):
    """An answer over HTTP."""

    status: int
    json: Any


class WatchedProcess:
    """One process of roles."""

    def __init__(self, process: warm.Forked, folder: Path) -> None:
        self._process = process
        self.log, self.lock = folder / "log", folder / "lock"
        self._port: int | None = None

    def lines(self) -> list[dict[str, Any]]:
        """Return what it logged so far."""
        whole = self.log.read_bytes().rpartition(b"\n")[0].splitlines()
        return [orjson.loads(line) for line in whole if line.startswith(b"{")]

    def said(self, event: str) -> list[dict[str, Any]]:
        """Return its log lines of an event."""
        return [line for line in self.lines() if line["event"] == event]

    async def get(self, path: str) -> Said:
        """Return what it answers."""
        status, body = await self._get(path)
        return Said(status, orjson.loads(body))

    async def metrics(self) -> Mapping[tuple[str, ...], float]:
        """Return its samples by name and the values of labels, in the order of their names."""
        status, body = await self._get("/metrics")
        assert status == 200
        return {
            (sample.name, *(sample.labels[label] for label in sorted(sample.labels))): sample.value
            for family in text_string_to_metric_families(body.decode())
            for sample in family.samples
        }

    async def says(self, path: str, found: Callable[[Said], bool], *, within_s: float = 20) -> Said:
        """Return the first answer that is as it should be."""
        said = await self.get(path)
        try:
            async with asyncio.timeout(within_s):
                while not found(said):
                    await asyncio.sleep(0.05)
                    said = await self.get(path)
        except TimeoutError:
            raise AssertionError(f"{path}: {said}; {self.log.read_text()}") from None
        return said

    async def is_ready(self) -> Said:
        """Return what it answers once it is ready."""
        return await self.says("/readyz", lambda said: said.status == 200, within_s=60)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    async def ended(self) -> int:
        """Return its exit status."""
        return await self._process.ended()

    async def _get(self, path: str) -> tuple[int, bytes]:
        while self._port is None:
            if self._process.poll() is not None:
                raise AssertionError(f"it ended: {self.log.read_text()}")
            served = self.said("metrics_served")
            self._port = served[0]["port"] if served else None
            await asyncio.sleep(0.02)
        return await asyncio.to_thread(_answer, f"http://127.0.0.1:{self._port}{path}")


def _answer(address: str) -> tuple[int, bytes]:
    try:
        with urlopen(address, timeout=10) as response:
            return response.status, response.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()


@asynccontextmanager
async def watched(
    settings: Settings, folder: Path, roles: Sequence[str]
) -> AsyncGenerator[WatchedProcess]:
    """Run roles in a process that serves metrics and health, until the end of the block."""
    with (folder / "log").open("wb") as log:
        process = warm.start(
            "tests.watched_roles",
            [str(folder / "lock"), *roles],
            environment_of(settings) | {"AGENTJOURNAL_METRICS_PORT": "0"},
            (0, log.fileno(), log.fileno()),
        )
    try:
        yield WatchedProcess(process, folder)
    finally:
        (folder / "lock").unlink(missing_ok=True)
        process.send_signal(signal.SIGKILL)
        await process.ended()


@contextmanager
def standing_still(stack: Stack, server: str) -> Generator[None]:
    """Let a server stand still until the end of the block: it neither answers nor hangs up."""
    pid = stack.pid(server)
    assert pid is not None
    stopped: list[int] = []
    try:
        # The first one starts no others any more while those are looked for.
        for each in (pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGSTOP)
                stopped.append(each)
        yield
    finally:
        for each in reversed(stopped):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGCONT)
