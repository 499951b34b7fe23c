"""Filling the tables of new generations: a projector of its own, up to where the live ones are."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from agentjournal.ids import Partition, Position
from consumers.capped_log import CappedLog, PausableLog
from consumers.projector import Projector, ProjectorOptions, ProjectorPorts, ReadModels
from projections.projection import Projection

_OPTIONS = ProjectorOptions(poll_s=0.05)


class Alone:
    """A membership of one, who takes every partition: nobody else writes to what is built."""

    member = "rebuild"

    async def heartbeat(self) -> list[str]:
        """Return who works in this role."""
        return [self.member]

    async def leave(self) -> None:
        """Do nothing: nobody is told."""


class Build:
    """A projector over generations that nobody reads yet; it never passes the live ones."""

    def __init__(self, log: PausableLog, models: ReadModels) -> None:
        self._log, self._models = CappedLog(log), models
        self._stop = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    def start(self, projections: Sequence[Projection]) -> None:
        """Go on filling from where the checkpoints are, unless it does or there is nothing."""
        if self._running is not None or not projections:
            return
        self._stop.clear()
        ports = ProjectorPorts(self._log, self._models, Alone())
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
