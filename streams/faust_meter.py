"""The meter's Faust app: reads the canonical log as a consumer group, and feeds what counts it.

It runs in the loop that starts it, installs no signal handlers, and makes no topics. It commits
what was counted every few seconds, so after a crash a few seconds are counted again.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Collection, Mapping
from typing import Any, TypeAlias

import faust
import structlog
from aiokafka.errors import KafkaError
from faust.exceptions import ConsumerNotStarted
from faust.types import TP
from faust.types.auth import CredentialsT

from agentjournal.envelope import parse_record
from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position
from agentjournal.kafka_options import client_options
from agentjournal.settings import Settings
from streams.faust_app import App, AsItIs, NoSensors, Transport
from streams.kafka_first_place import commit_first_places
from streams.meter import Meter
from streams.ports import OutageError

_LOG = structlog.get_logger()
_STOP_WITHIN_S = 3.0
_COMMIT_EVERY_S = 2.0
# A member that died gives up its partitions after this; brokers allow no less as they come.
_SESSION_TIMEOUT_S = 6.0

# The queue of the agent. A partition is read no further once four fifths of it are taken; what is
# at hand then, at most a poll for each partition, still fits: so it is never full.
_BUFFERED = 8_192
_POLLED = 200
_AT_ONCE = 500  # events that are counted before others of the loop have their turn: 20 ms or so

_Event: TypeAlias = Any  # faust.Event, whose message is typed as optional everywhere


class FaustMeter:
    """One Faust app from its start to its stop; after a failure make another."""

    def __init__(self, settings: Settings, meter: Meter) -> None:
        self._settings, self._topic, self._meter = settings, settings.events, meter
        # Faust makes folders for tables, of which there are none.
        self._folder = tempfile.TemporaryDirectory(prefix="agentjournal-meter-")
        self._next: dict[Partition, int] = {}
        self._assigned: frozenset[Partition] = frozenset()
        self._app: Any = App(group_of(settings), **_options(settings, self._folder))
        self._app.transport = Transport(self._app.conf.broker_consumer, self._app)
        topic = self._app.topic(self._topic, schema=AsItIs(key_type=bytes, value_type=bytes))
        self._app.agent(topic, name="meter", concurrency=1)(self._count)
        # By a strong reference: nothing else holds a bound method.
        self._app.on_partitions_assigned.connect(self._on_assigned, weak=False)

    async def start(self) -> None:
        """Begin to read. Raises OutageError when no broker answers."""
        # It tells of every rebalance and of every record that it drops.
        for name in ("faust", "mode", "aiokafka"):
            logging.getLogger(name).setLevel(logging.ERROR)
        await commit_first_places(self._settings, group_of(self._settings))
        try:
            await self._app.start()
        except (KafkaError, OSError) as error:
            raise OutageError(f"Kafka: {error!r}") from error

    async def stop(self) -> None:
        """Commit what was counted and leave the group; a broker that is away is not waited for."""
        try:
            async with asyncio.timeout(_STOP_WITHIN_S):
                await self._app.stop()
        except (TimeoutError, KafkaError, RuntimeError) as error:
            _LOG.warning("left_without_word", reason=repr(error))
        finally:
            self._folder.cleanup()

    @property
    def failure(self) -> BaseException | None:
        """What ended the app before it was stopped; None: nothing did."""
        if not self._app.crashed:
            return None
        return self._app.crash_reason or RuntimeError("the app ended without a reason")

    @property
    def reading(self) -> Collection[Partition]:
        """The partitions that it reads; none while it is not known of each where it begins."""
        return self._assigned if None not in self._ends().values() else ()

    @property
    def behind(self) -> Collection[Partition]:
        """The partitions of which not everything was counted that the broker was seen to hold."""
        ends = self._ends()
        return {
            each for each, end in ends.items() if end is None or self._next.get(each, end) < end
        }

    def _ends(self) -> Mapping[Partition, int | None]:
        """Return where each partition ended at the last answer of the broker."""
        return {each: self._end(TP(self._topic, each)) for each in self._assigned}

    def _end(self, tp: TP) -> int | None:
        try:
            end: int | None = self._app.consumer.highwater(tp)
        except (AssertionError, ConsumerNotStarted):
            return None  # its thread has given the partition up, and has not told it yet
        return end

    async def _count(self, stream: Any) -> None:
        queue = self._app.consumer.queue = stream.channel.queue
        events: AsyncIterator[_Event] = stream.events()
        async for event in events:
            self._take(event)
            # A stream goes once around the loop for each event. What waits is taken as a stream
            # does, without that: an event of before a rebalance is let go, and not acknowledged.
            for _ in range(min(queue.qsize(), _AT_ONCE)):
                waiting = queue.get_nowait()
                if self._is_ours(waiting.message):
                    self._take(waiting)
                    waiting.ack()

    def _is_ours(self, message: Any) -> bool:
        app = self._app
        is_new: bool = message.generation_id == app.consumer_generation_id
        return is_new and app.flow_control.is_active()

    def _take(self, event: _Event) -> None:
        message = event.message
        partition, position = Partition(message.partition), Position(message.offset)
        try:
            self._meter.take(parse_record(event.value, partition, position))
        except (IntegrityError, KeyError, TypeError, ValueError, ArithmeticError) as error:
            # What ends an agent of Faust is committed all the same, and starts it over.
            self._meter.refuse()
            kind = type(error).__name__  # its words may quote the event
            _LOG.warning("not_counted", partition=partition, position=position, kind=kind)
        self._next[partition] = position + 1

    async def _on_assigned(self, _: Any, /, *of: Any, **__: Any) -> None:
        [assigned] = of
        self._assigned = frozenset(Partition(tp.partition) for tp in assigned)
        self._meter.keep(self._assigned)
        _LOG.info("partitions_taken", partitions=sorted(self._assigned))


def group_of(settings: Settings) -> str:
    """Return the consumer group of the meter, which is the name of its app."""
    return f"{settings.topic_prefix}meter"


def _options(settings: Settings, folder: tempfile.TemporaryDirectory[str]) -> dict[str, Any]:
    return {
        "broker": [f"kafka://{address.strip()}" for address in settings.kafka.split(",")],
        "broker_credentials": _credentials(settings),
        "broker_commit_interval": _COMMIT_EVERY_S,
        "broker_max_poll_records": _POLLED,
        "broker_session_timeout": _SESSION_TIMEOUT_S,
        "broker_heartbeat_interval": _SESSION_TIMEOUT_S / 4,
        # Every partition has a place by then, unless what it named is gone.
        "consumer_auto_offset_reset": "latest",
        "consumer_max_fetch_size": 2_200_000,
        "datadir": folder.name,
        "Monitor": NoSensors,
        # Variables of other Faust apps are not about this one.
        "env_prefix": "AGENTJOURNAL_FAUST_",
        "store": "memory://",
        "stream_buffer_maxsize": _BUFFERED,
        "topic_allow_declare": False,
        "topic_disable_leader": True,
        "web_enabled": False,
    }


def _credentials(settings: Settings) -> CredentialsT | None:
    options = client_options(settings)
    context = options.get("ssl_context")
    if settings.security.security_protocol.startswith("SASL"):
        return faust.SASLCredentials(
            username=options["sasl_plain_username"],
            password=options["sasl_plain_password"],
            mechanism=options["sasl_mechanism"],
            ssl_context=context,
        )
    return None if context is None else faust.SSLCredentials(context)
