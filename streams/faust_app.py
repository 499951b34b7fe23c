"""Faust without what the meter does not need of it, and which takes longer than the counting."""

from __future__ import annotations

import asyncio
from typing import Any

import faust
from faust.app.base import BootStrategy
from faust.sensors.monitor import Monitor
from faust.transport.drivers import aiokafka as drivers


class _Consumer(drivers.Consumer):
    """Delivers a record without four tasks of its own, where there is nothing to wait for.

    As it comes, the consumer races each delivery against the begin of a rebalance; that takes
    longer than all the rest together. A delivery can only wait while the flow is suspended, or for
    room in a queue.
    """

    queue: asyncio.Queue[Any] | None = None

    async def wait_first(self, *coros: Any, timeout: Any = None) -> Any:  # noqa: ASYNC109 - as it is
        delivered_at_once = (
            timeout is None
            and len(coros) == 2
            and all(map(asyncio.iscoroutine, coros))
            and self.queue is not None
            and not self.queue.full()
            and self.app.flow_control.is_active()
            and not self.suspend_flow.is_set()
        )
        if not delivered_at_once:
            return await super().wait_first(*coros, timeout=timeout)  # pyright: ignore[reportArgumentType]
        delivery, suspended = coros
        suspended.close()
        await delivery
        return None


class Transport(drivers.Transport):
    """Makes a consumer that delivers in one step."""

    Consumer = _Consumer


class AsItIs(faust.Schema[bytes, bytes]):
    """Hands on what was read.

    Looking for serializers that do nothing takes longer than counting an event.
    """

    def compile(self, app: Any, **_: Any) -> Any:
        """Return what makes an event of a message."""

        async def decode(message: Any, **_: Any) -> Any:
            return faust.Event(app, message.key, message.value, None, message)

        return decode


class NoSensors(Monitor):
    """Measures nothing of an event: what is measured of a role is in its metrics."""

    def on_message_in(self, *_: Any, **__: Any) -> None: ...
    def on_message_out(self, *_: Any, **__: Any) -> None: ...
    def on_stream_event_in(self, *_: Any, **__: Any) -> None: ...
    def on_stream_event_out(self, *_: Any, **__: Any) -> None: ...
    def track_tp_end_offset(self, *_: Any, **__: Any) -> None: ...


class _ReadOnly(BootStrategy):
    """No producer and no web server: this app answers nobody through Kafka."""

    enable_kafka_producer = False
    enable_web = False


class App(faust.App):
    """An app that only reads."""

    BootStrategy = _ReadOnly
