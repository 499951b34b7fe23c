"""Where `top` has its figures from: three servers, each asked on its own, so that one that is away
or slow hides nothing of the others.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Protocol

from agentjournal.alerts import Alert
from agentjournal.errors import AgentJournalError, Unavailable
from agentjournal.kafka_alerts import AlertReader
from agentjournal.rates import Rates
from agentjournal.redis_rates import RedisRates
from agentjournal.settings import Settings
from commands.harmless import one_line
from commands.postgres_top import ReadModelCounts
from commands.top_figures import Snapshot, Trouble

_ALERTS_BACK = 200  # records
_ALERTS_KEPT = 50
NO_METER = "no meter is at work: `agentjournal run meter`"


class Source(Protocol):
    """One server as it is asked."""

    async def read(self) -> Any:
        """Return its figures. Raises AgentJournalError."""
        ...

    async def close(self) -> None:
        """Close the connection; the next `read` opens one."""
        ...


class LatestAlerts:
    """The last alerts, followed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._reader: AlertReader | None = None
        self._latest: deque[Alert] = deque(maxlen=_ALERTS_KEPT)

    async def read(self) -> tuple[Alert, ...]:
        """Return them, the latest last. Raises Unavailable."""
        try:
            if self._reader is None:
                self._latest.clear()
                self._reader = await AlertReader(self._settings).__aenter__()
                kept = [each async for each in self._reader.kept(last=_ALERTS_BACK)]
                self._latest.extend(each for each in kept if isinstance(each, Alert))
            else:
                await self._reader.check()
                found = await self._reader.poll()
                self._latest.extend(each for each in found if isinstance(each, Alert))
        except BaseException:
            await self.close()
            raise
        return tuple(self._latest)

    async def close(self) -> None:
        """Close the connection."""
        reader, self._reader = self._reader, None
        if reader is not None:
            await reader.__aexit__()


class LatestRates:
    """What the meters count."""

    def __init__(self, settings: Settings) -> None:
        self._rates = RedisRates(settings)

    async def read(self) -> Rates | Trouble:
        """Return the rates, or that there is no meter. Raises Unavailable."""
        return await self._rates.read() or Trouble(NO_METER)

    async def close(self) -> None:
        """Close the connections."""
        await self._rates.close()


SERVERS: Final = MappingProxyType({"read_models": "Postgres", "rates": "Redis", "alerts": "Kafka"})


def sources_of(settings: Settings) -> dict[str, Source]:
    """Return what each part of a snapshot is read from."""
    return {
        "read_models": ReadModelCounts(settings),
        "rates": LatestRates(settings),
        "alerts": LatestAlerts(settings),
    }


class Watch:
    """The figures as they come in; `changed` is told of each."""

    def __init__(
        self,
        sources: Mapping[str, Source],
        changed: Callable[[], None] = lambda: None,
        *,
        longest_s: float = 10.0,  # above what each allows itself
    ) -> None:
        self._sources = sources
        self._found: dict[str, Any] = {}
        self._changed = changed
        self._longest_s = longest_s

    def snapshot(self) -> Snapshot:
        """Return what is known now."""
        return Snapshot(at=datetime.now().astimezone(), **self._found)

    async def read(self) -> None:
        """Ask each server once, all at a time."""
        await asyncio.gather(*(self._ask(name) for name in self._sources))

    async def keep_reading(self, interval_s: float) -> None:
        """Ask each server again and again, so long after its last answer."""
        await asyncio.gather(*(self._keep_asking(name, interval_s) for name in self._sources))

    async def close(self) -> None:
        """Close all connections; a server that is away keeps nobody waiting."""
        for source in self._sources.values():
            with suppress(Exception):
                async with asyncio.timeout(1):
                    await source.close()

    async def _keep_asking(self, name: str, interval_s: float) -> None:
        while True:
            await self._ask(name)
            await asyncio.sleep(interval_s)

    async def _ask(self, name: str) -> None:
        asking = asyncio.create_task(_answer(self._sources[name].read))
        try:
            await asyncio.wait({asking}, timeout=self._longest_s)
            late = Unavailable(SERVERS[name], f"no answer in {self._longest_s:g} s")
            self._found[name] = asking.result() if asking.done() else Trouble(str(late))
            self._changed()
        finally:
            # A driver may take some time to give up: that is said before.
            asking.cancel()
            await asyncio.wait({asking})


async def _answer(read: Callable[[], Awaitable[Any]]) -> Any:
    try:
        return await read()
    except AgentJournalError as error:
        return Trouble(one_line(str(error)))
