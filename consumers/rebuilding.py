"""Filling the tables of new generations: a projector of its own, up to where the live ones are."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol

from agentjournal.ids import Partition, Position
from consumers.capped_log import CappedLog, PausableLog
from consumers.projector import Projector, ProjectorOptions, ProjectorPorts, ReadModels
from projections.projection import Projection

_OPTIONS = ProjectorOptions(poll_s=0.05)


class Builders:
    """A membership of a fixed number, of which this is one: nobody else writes to what is built."""

    def __init__(self, number: int = 0, count: int = 1) -> None:
        self._members = [f"rebuild {each}" for each in range(count)]
        self.member = self._members[number]

    async def heartbeat(self) -> list[str]:
        """Return who works in this role."""
        return self._members

    async def leave(self) -> None:
        """Do nothing: nobody is told."""


class Filler(Protocol):
    """Fills new generations beside this process."""

    @property
    def least(self) -> int:
        """Of how many events on it is worth the while."""
        ...

    async def fill(
        self, building: Sequence[Projection], until: Mapping[Partition, Position]
    ) -> None:
        """Fill the tables of generations up to these positions."""
        ...


class Build:
    """A projector over generations that nobody reads yet; it never passes the live ones."""

    def __init__(
        self, log: PausableLog, models: ReadModels, builders: Builders | None = None
    ) -> None:
        self._log, self._models = CappedLog(log), models
        self._builders = builders or Builders()
        self._stop = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    def start(self, projections: Sequence[Projection]) -> None:
        """Go on filling from where the checkpoints are, unless it does or there is nothing."""
        if self._running is not None or not projections:
            return
        self._stop.clear()
        ports = ProjectorPorts(self._log, self._models, self._builders)
        self._running = asyncio.create_task(Projector(ports, projections, _OPTIONS).run(self._stop))

    def raise_caps(self, caps: Mapping[Partition, Position]) -> None:
        """Let it read up to these positions."""
        self._log.caps = caps

    def check(self) -> None:
        """Raise what ended it, if it ended."""
        if self._running is not None and self._running.done():
            self._running.result()

    async def stop(self) -> None:
        """Let it store what it has, and end. Raises what it raises."""
        running, self._running = self._running, None
        if running is not None:
            self._stop.set()
            await running
