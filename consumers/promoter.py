"""The promoter: when a session ends or is idle, what is worth keeping of it is kept.

Processes divide the partitions; two that work on one session at once ask for the same, and the log
takes it once. It looks at the read models and appends to the log: a rebuild never runs it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import structlog

from agentjournal.errors import (
    AppendOutcomeUnknown,
    NotCaughtUp,
    SessionNotFound,
    StreamDeleted,
    Unavailable,
)
from agentjournal.ids import Partition, StreamId, Version
from agentjournal.memory.promoter import FAULT_POINTS as STEPS
from agentjournal.memory.promoter import Done
from agentjournal.partitions import PARTITIONS
from consumers.ownership import Membership, share_of
from consumers.promoter_places import Due, Place, moved, of_late, of_old
from consumers.watch import Watch
from projections.plain_text import storable
from streams.ports import OutageError

_LOG = structlog.get_logger()

FAULT_POINTS = (*STEPS, "noted", "looked")
_TROUBLE = (OutageError, Unavailable, NotCaughtUp, AppendOutcomeUnknown)
_MOST_ERROR = 500  # characters


class Promotes(Protocol):
    """What promotes a session."""

    async def promote(self, stream: StreamId) -> Done:
        """Promote a session. Raises whatever is in its way."""
        ...


class PromoterModels(Protocol):
    """The read models, and what the promoter keeps beside them."""

    longest_idle_s: float  # that a session is waited for

    async def places(self, partitions: Sequence[Partition]) -> list[Place]: ...
    async def due(self, since: Sequence[tuple[Partition, datetime]], most: int) -> list[Due]: ...
    async def looked(self, partition: Partition, until: datetime) -> None: ...
    async def done(self, stream: StreamId, version: Version) -> None: ...
    async def failed(self, stream: StreamId, version: Version, error: str) -> None: ...


@dataclass(frozen=True, slots=True)
class PromoterOptions:
    """How the promoter paces itself."""

    scan_every_s: float = 1.0
    page: int = 50  # sessions of a partition at a time
    at_once: int = 8  # sessions: most of a promotion is waiting
    heartbeat_s: float = 1.0
    outage_pause_s: float = 0.5


@dataclass(frozen=True, slots=True)
class PromoterPorts:
    """What the promoter reads and writes."""

    models: PromoterModels
    promoter: Promotes
    membership: Membership
    watch: Watch = field(default_factory=lambda: Watch("promoter"))


class PromoterRole:
    """Scans again and again for sessions that are to be promoted, and promotes them."""

    def __init__(
        self,
        ports: PromoterPorts,
        options: PromoterOptions | None = None,
        fault: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._ports, self._options = ports, options or PromoterOptions()
        self._fault = fault
        self._mine: set[Partition] = set()
        self._last_heartbeat = float("-inf")

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; wait where a server is away."""
        while not stop.is_set():
            try:
                found = await self._turn(stop)
                if not found:
                    await _sleep(self._options.scan_every_s, stop)
            except _TROUBLE as trouble:
                _LOG.warning("starting_over", reason=str(trouble), kind=type(trouble).__name__)
                self._ports.watch.starts_over(trouble)
                await _sleep(self._options.outage_pause_s, stop)
        try:
            await self._ports.membership.leave()
        except OutageError as trouble:
            _LOG.warning("left_without_word", reason=str(trouble))

    async def _turn(self, stop: asyncio.Event) -> bool:
        """Promote a page of sessions; return whether there may be more."""
        await self._heartbeat()
        models, most = self._ports.models, self._options.page
        places = await models.places(sorted(self._mine))
        idle_s = models.longest_idle_s
        late = await models.due(of_late(places, idle_s), most)
        await self._promote(late, stop)
        old = await models.due(of_old(places, idle_s), most) if len(late) < most else []
        handled = {each.stream for each in late}
        await self._promote([each for each in old if each.stream not in handled], stop)
        if len(late) < most and not stop.is_set():
            await self._move(places, old)
        return bool(late or old)

    async def _move(self, places: Sequence[Place], old: Sequence[Due]) -> None:
        """Note up to where everything is dealt with."""
        models, most = self._ports.models, self._options.page
        for place in places:
            found = [each for each in old if each.partition == place.partition]
            until = moved(place, found, most, models.longest_idle_s)
            if until is not None:
                await models.looked(place.partition, until)
                self._fault("looked")

    async def _heartbeat(self) -> None:
        now = time.monotonic()
        if now - self._last_heartbeat < self._options.heartbeat_s:
            return
        self._last_heartbeat = now
        membership = self._ports.membership
        self._mine = share_of(membership.member, await membership.heartbeat(), PARTITIONS)
        self._ports.watch.works_on(len(self._mine))

    async def _promote(self, due: Sequence[Due], stop: asyncio.Event) -> None:
        """Promote sessions, some at once; none waits for another, but for its turn."""
        turn = asyncio.Semaphore(self._options.at_once)

        async def one(each: Due) -> None:
            async with turn:
                if not stop.is_set():
                    await self._heartbeat()
                    await self._promote_one(each)

        # A model may take minutes: who is silent meanwhile is taken for dead by the others.
        beating = asyncio.create_task(self._beat())
        try:
            outcomes = await asyncio.gather(*map(one, due), return_exceptions=True)
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)
        for outcome in outcomes:  # once none is at work any more
            if isinstance(outcome, BaseException):
                raise outcome

    async def _beat(self) -> None:
        """Say again and again that this member is alive, until that fails: the next turn tells."""
        while True:
            await asyncio.sleep(self._options.heartbeat_s)
            await self._heartbeat()

    async def _promote_one(self, due: Due) -> None:
        """Promote a session, or note why it cannot be."""
        models, watch, began = self._ports.models, self._ports.watch, time.monotonic()
        try:
            done = await self._ports.promoter.promote(due.stream)
        except _TROUBLE:
            raise
        except (SessionNotFound, StreamDeleted):
            await models.done(due.stream, due.version)
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, others are to go on
            await models.failed(due.stream, due.version, words_of(error))
            watch.metrics.add("agentjournal_promotions_total", outcome="failed")
            _LOG.error("promotion_failed", stream=due.stream, kind=type(error).__name__)
            return
        # What came while it was read shows as another version, and makes it due again.
        await models.done(due.stream, done.version)
        self._fault("noted")
        outcome = "repeated" if done.promotion.repeated else "completed"
        watch.metrics.add("agentjournal_promotions_total", outcome=outcome)
        watch.batch(done.version, began)


def words_of(error: Exception) -> str:
    """Return what is noted of why a session cannot be promoted, as Postgres can hold it.

    It may quote what was said: it is kept where that is, and never logged.
    """
    text: str = storable(f"{type(error).__name__}: {error}"[:_MOST_ERROR])
    return text


async def _sleep(seconds: float, stop: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return
