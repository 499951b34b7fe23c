"""The meter: what the core counted goes to Redis every second, and its alerts to their topic.

Nothing of it is needed by anybody: it may be away, start over, or count a little twice.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

import structlog

from agentjournal.alerts import Alert, AlertSink
from agentjournal.errors import Unavailable
from agentjournal.ids import Partition
from agentjournal.rates import Rates
from consumers.ownership import Membership
from consumers.stopping import pause
from consumers.watch import Watch
from streams.meter import Meter
from streams.ports import OutageError

_LOG = structlog.get_logger()
_LEAVE_WITHIN_S = 1.0
_MOST_ALERTS = 1_000  # that wait for Kafka; of more, the oldest are given up


class MeterReader(Protocol):
    """Reads the canonical log into a meter, from its start to its stop."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    @property
    def failure(self) -> BaseException | None: ...
    @property
    def reading(self) -> Collection[Partition]: ...
    @property
    def behind(self) -> Collection[Partition]: ...


class RatesSink(Protocol):
    """Where rates are shown."""

    async def publish(self, member: str, rates: Rates, /) -> None: ...
    async def withdraw(self, member: str) -> None: ...


@dataclass(frozen=True, slots=True)
class MeterPorts:
    """What the meter reads and writes."""

    new_reader: Callable[[Meter], MeterReader]  # after a failure another one
    rates: RatesSink
    alerts: AlertSink
    membership: Membership  # so that others see that it is at work; it takes nothing from it
    watch: Watch


@dataclass(frozen=True, slots=True)
class MeterPace:
    """How the meter paces itself."""

    publish_s: float = 1.0
    heartbeat_s: float = 1.0
    outage_pause_s: float = 0.5


class MeterRole:
    """Keeps a reader going, and shows what the meter counted."""

    def __init__(self, ports: MeterPorts, meter: Meter, pace: MeterPace | None = None) -> None:
        self._ports, self._meter, self._pace = ports, meter, pace or MeterPace()
        self._waiting: deque[Alert] = deque(maxlen=_MOST_ALERTS)
        self._is_at_work = False

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; what fails meanwhile is begun anew."""
        # On its own: the meter goes on without Postgres, and does not wait for it.
        alive = asyncio.create_task(self._say_alive(stop))
        try:
            await self._work(stop)
            await self._leave()
        finally:
            alive.cancel()
            await asyncio.gather(alive, return_exceptions=True)

    async def _work(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            reader = self._ports.new_reader(self._meter)
            try:
                await _start(reader, stop)
                await self._follow(reader, stop)
            except OutageError as trouble:
                _LOG.warning("starting_over", reason=str(trouble), kind=type(trouble).__name__)
                self._ports.watch.starts_over(trouble)
                await pause(self._pace.outage_pause_s, stop)
            finally:
                self._is_at_work = False
                await reader.stop()

    async def _leave(self) -> None:
        membership = self._ports.membership
        try:
            await self._ports.rates.withdraw(membership.member)
            async with asyncio.timeout(_LEAVE_WITHIN_S):
                await membership.leave()
        except (Unavailable, OutageError, TimeoutError) as trouble:
            _LOG.warning("left_without_word", reason=repr(trouble))

    async def _say_alive(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            if self._is_at_work:
                try:
                    await self._ports.membership.heartbeat()
                except OutageError:
                    pass  # nobody sees it until Postgres is back
            await pause(self._pace.heartbeat_s, stop)

    async def _follow(self, reader: MeterReader, stop: asyncio.Event) -> None:
        """Show what is counted for as long as the reader goes on. Raises OutageError."""
        while not stop.is_set():
            if reader.failure is not None:
                raise OutageError(f"the reader ended: {reader.failure!r}")
            if reader.reading:
                self._is_at_work = True
                self._ports.watch.works_on(len(reader.reading))
                await self._show(reader)
            await pause(self._pace.publish_s, stop)

    async def _show(self, reader: MeterReader) -> None:
        now_ms = round(time.time() * 1_000)
        self._waiting.extend(self._meter.tick(now_ms, reader.behind))
        try:
            await self._ports.rates.publish(
                self._ports.membership.member, self._meter.snapshot(now_ms)
            )
            if self._waiting:
                await self._ports.alerts.write(list(self._waiting))
                self._waiting.clear()
        except Unavailable as trouble:
            _LOG.warning("not_shown", reason=str(trouble))


async def _start(reader: MeterReader, stop: asyncio.Event) -> None:
    """Start a reader, unless `stop` is set before it has joined. Raises OutageError."""
    starting = asyncio.create_task(reader.start())
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((starting, stopping), return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        if not starting.done():
            starting.cancel()
        await asyncio.wait((starting, stopping))
    if not starting.cancelled():
        starting.result()
