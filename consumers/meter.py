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
from streams.meter import Meter
from streams.ports import OutageError

_LOG = structlog.get_logger()
_MOST_ALERTS = 1_000  # that wait for Kafka; of more, the oldest are given up


class MeterReader(Protocol):
    """Reads the canonical log into a meter, from its start to its stop."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    @property
    def failure(self) -> BaseException | None: ...
    @property
    def assigned(self) -> Collection[Partition]: ...
    @property
    def behind(self) -> Collection[Partition]: ...


class RatesSink(Protocol):
    """Where rates are shown."""

    async def publish(self, member: str, rates: Rates) -> None: ...
    async def withdraw(self, member: str) -> None: ...


@dataclass(frozen=True, slots=True)
class MeterPorts:
    """What the meter reads and writes."""

    new_reader: Callable[[Meter], MeterReader]  # after a failure another one
    rates: RatesSink
    alerts: AlertSink
    member: str


@dataclass(frozen=True, slots=True)
class MeterPace:
    """How the meter paces itself."""

    publish_s: float = 1.0
    outage_pause_s: float = 0.5


class MeterRole:
    """Keeps a reader going, and shows what the meter counted."""

    def __init__(self, ports: MeterPorts, meter: Meter, pace: MeterPace | None = None) -> None:
        self._ports, self._meter, self._pace = ports, meter, pace or MeterPace()
        self._waiting: deque[Alert] = deque(maxlen=_MOST_ALERTS)

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; what fails meanwhile is begun anew."""
        while not stop.is_set():
            reader = self._ports.new_reader(self._meter)
            try:
                await reader.start()
                await self._follow(reader, stop)
            except OutageError as trouble:
                _LOG.warning("starting_over", reason=str(trouble), kind=type(trouble).__name__)
                await _pause(self._pace.outage_pause_s, stop)
            finally:
                await reader.stop()
        try:
            await self._ports.rates.withdraw(self._ports.member)
        except Unavailable as trouble:
            _LOG.warning("left_without_word", reason=str(trouble))

    async def _follow(self, reader: MeterReader, stop: asyncio.Event) -> None:
        """Show what is counted for as long as the reader goes on. Raises OutageError."""
        while not stop.is_set():
            if reader.failure is not None:
                raise OutageError(f"the reader ended: {reader.failure!r}")
            if reader.assigned:
                await self._show(reader)
            await _pause(self._pace.publish_s, stop)

    async def _show(self, reader: MeterReader) -> None:
        now_ms = round(time.time() * 1_000)
        self._waiting.extend(self._meter.tick(now_ms, reader.behind))
        try:
            await self._ports.rates.publish(self._ports.member, self._meter.snapshot(now_ms))
            if self._waiting:
                await self._ports.alerts.write(list(self._waiting))
                self._waiting.clear()
        except Unavailable as trouble:
            _LOG.warning("not_shown", reason=str(trouble))


async def _pause(seconds: float, stop: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        pass
