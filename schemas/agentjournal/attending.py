"""One life of a service as a member of its group: events are handled, streams are parked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from time import monotonic

from agentjournal.envelope import Recorded
from agentjournal.errors import TooManyParked, Unavailable
from agentjournal.handle import Servers
from agentjournal.handler_calls import Handler, NotAsyncError, call
from agentjournal.handling import Queues
from agentjournal.ids import Partition, Position, StreamId, Version
from agentjournal.service_terms import Terms
from agentjournal.subscriptions import Member, Parked, Parking, Place

_LOG = logging.getLogger("agentjournal")
_COMMIT_EVERY_S = 0.2
_LOOK_EVERY_S = 0.5  # for what others have said of parked streams
_MOST_HELD = 1_000  # events of a partition in memory, above which it is paused
_GIVE_UP_S = 4.0  # what is being handled has so long to end when its partition goes away
_TROUBLE_PAUSE_S = 1.0


@dataclass(eq=False, slots=True)
class _Share:
    """A partition that is ours until `over`."""

    partition: Partition
    queues: Queues
    committed: Place | None = None
    is_paused: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    redriven: set[StreamId] = field(default_factory=set[StreamId])


class Attending:
    """Handles the events of the partitions that are this member's."""

    def __init__(
        self,
        terms: Terms,
        handler: Handler,
        parking: Parking,
        servers: Servers,
    ) -> None:
        self._terms, self._handler, self._parking = terms, handler, parking
        self._artifacts, self._sleep = servers.artifacts, servers.time.sleep
        self._slots = asyncio.Semaphore(terms.concurrency)
        # One at a time: two would be within the limit at once, or tell of a stream in other order.
        self._parks = asyncio.Lock()
        self._shares: dict[Partition, _Share] = {}
        self._member: Member | None = None
        self._failed: Exception | None = None
        self._stopping = asyncio.Event()
        self._stop_s = _GIVE_UP_S
        self._next_commit = self._next_look = 0.0

    async def taken(self, places: Mapping[Partition, Place]) -> None:
        """Go on with partitions from these places on; what was asked for is handled again."""
        standing = await self._parking.follow([*self._shares, *places])
        for partition, place in places.items():
            here = {s: each for s, each in standing.parked.items() if each.partition == partition}
            self._shares[partition] = _Share(partition, Queues(place, here))
        for stream in standing.asked:
            self._asked(stream)

    async def lost(self, partitions: Collection[Partition]) -> None:
        """Give up partitions: what is being handled ends or is cancelled, and is committed."""
        shares = [self._shares[each] for each in partitions if each in self._shares]
        for share in shares:
            share.over.set()
        tasks = [task for share in shares for task in share.tasks]
        if tasks:
            await asyncio.wait(tasks, timeout=self._stop_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        try:
            await self._commit(shares)
        finally:
            for share in shares:
                self._shares.pop(share.partition, None)

    async def attend(self, member: Member) -> None:
        """Handle events until `stop`. Raises what reading raises, TooManyParked."""
        self._member = member
        while not self._stopping.is_set() and self._failed is None:
            polled = await member.poll(min(_COMMIT_EVERY_S, _LOOK_EVERY_S) / 2)
            for partition, records in polled.items():
                share = self._shares[partition]
                for recorded in records:
                    stream = share.queues.take(recorded, self._terms.wanted)
                    if stream is not None:
                        self._begin(share, self._handle(share, stream))
                self._hold_back(share)
            await asyncio.sleep(0)  # a log that always has more leaves handlers their turn
            await self._regularly()
        if self._failed is not None:
            raise self._failed

    def stop(self, seconds: float) -> None:
        """Begin nothing more; what is being handled has so long to end once the member leaves."""
        self._stop_s = seconds
        self._stopping.set()

    async def _regularly(self) -> None:
        try:
            if monotonic() >= self._next_commit:
                self._next_commit = monotonic() + _COMMIT_EVERY_S
                await self._commit(list(self._shares.values()))
            if monotonic() >= self._next_look:
                self._next_look = monotonic() + _LOOK_EVERY_S
                await self._look()
        except Unavailable as trouble:
            self._warn("goes on without having committed", trouble)

    async def _commit(self, shares: list[_Share]) -> None:
        places = {s.partition: s.queues.place for s in shares if s.queues.place != s.committed}
        if self._member is not None and places:
            await self._member.commit(places)
            for share in shares:
                share.committed = places.get(share.partition, share.committed)

    async def _look(self) -> None:
        for change in await self._parking.changes():
            share = self._shares.get(change.partition)
            if share is None:
                continue
            if change.is_asked:
                self._asked(change.stream)
            else:  # who was cut off has not the last word
                self._begin(share, self._tell(share, change.stream))

    def _asked(self, stream: StreamId) -> None:
        for share in self._shares.values():
            if stream in share.queues.parked and stream not in share.redriven:
                share.redriven.add(stream)
                self._begin(share, self._redrive(share, share.queues.parked[stream]))

    def _begin(self, share: _Share, work: Awaitable[None]) -> None:
        async def worked() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001 - it ends the service, which raises it
                self._failed = self._failed or error

        task = asyncio.create_task(worked())
        share.tasks.add(task)
        task.add_done_callback(share.tasks.discard)

    async def _handle(self, share: _Share, stream: StreamId) -> None:
        """Handle what waits of a stream, one event after the other."""
        queues = share.queues
        while not self._is_over(share) and (recorded := queues.next(stream)) is not None:
            tried = await self._tried(share, recorded)
            if tried is None:
                queues.done(stream)
            elif isinstance(tried, Parked):
                await self._park(share, tried)
            else:
                return
            self._go_on(share)

    async def _tried(self, share: _Share, recorded: Recorded) -> Parked | bool | None:
        """Return None when it was handled, where it is parked, or False when time was up."""
        for attempt in count(1):
            try:
                async with self._slots:
                    if self._is_over(share):
                        return False
                    await call(self._handler, recorded, self._artifacts, self._terms.timeout_s)
            except NotAsyncError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, other streams go on
                wait_s = self._terms.wait_after(error, attempt)
                if wait_s is None:
                    return self._terms.parked(recorded, error, attempt)
                _LOG.warning(
                    "service %s: %s version %s, attempt %s: %s",
                    self._terms.service, recorded.stream, recorded.version, attempt,
                    type(error).__name__,
                )  # fmt: skip
                if not await self._paused(share, wait_s):
                    return False
            else:
                return None
        raise AssertionError  # pragma: no cover - counting does not end

    async def _paused(self, share: _Share, seconds: float) -> bool:
        """Return whether so much time passed while the partition was ours."""
        pause = asyncio.ensure_future(self._sleep(seconds))
        over = asyncio.ensure_future(share.over.wait())
        try:
            await asyncio.wait((pause, over), return_when=asyncio.FIRST_COMPLETED)
        finally:
            pause.cancel()
            over.cancel()
        return not self._is_over(share)

    def _is_over(self, share: _Share) -> bool:
        return share.over.is_set() or self._stopping.is_set()

    async def _park(self, share: _Share, parked: Parked) -> None:
        """Keep where the stream stopped, then let the partition go on without it."""
        async with self._parks:
            many = sum(len(each.queues.parked) for each in self._shares.values())
            if parked.stream not in share.queues.parked and many >= self._terms.most_parked:
                raise TooManyParked(self._terms.service, many, parked.error)
            await self._insist(partial(self._parking.park, parked))
            share.queues.park(parked)
        _LOG.error(
            "service %s stopped at %s version %s", parked.service, parked.stream, parked.version
        )

    async def _tell(self, share: _Share, stream: StreamId) -> None:
        """Say how a stream stands when it is said: it may have been parked again meanwhile."""
        async with self._parks:
            parked = share.queues.parked.get(stream)
            if parked is None:
                await self._insist(partial(self._parking.release, share.partition, stream))
            else:
                await self._insist(partial(self._parking.park, parked))

    async def _insist(self, say: Callable[[], Awaitable[None]]) -> None:
        """Say something of a parked stream, however long Kafka is away."""
        while True:
            try:
                return await say()
            except Unavailable as trouble:
                self._warn("cannot say where it stopped", trouble)
                await asyncio.sleep(_TROUBLE_PAUSE_S)

    async def _redrive(self, share: _Share, parked: Parked) -> None:
        """Handle a parked stream from where it stopped up to where the partition is, then go on."""
        stream, start, version = parked.stream, parked.position, parked.version
        try:
            while start < (end := share.queues.read):
                try:
                    tried, version = await self._again(share, stream, (start, end), version)
                except Unavailable as trouble:
                    self._warn(f"cannot read {stream} again", trouble)
                    if await self._paused(share, _TROUBLE_PAUSE_S):
                        continue
                    return
                if isinstance(tried, Parked):
                    await self._park(share, tried)
                    await self._insist(lambda: self._parking.forget_asked(share.partition, stream))
                if tried is not None:
                    return
                start = end
            share.queues.release(stream)  # nothing was read since it was looked
            await self._tell(share, stream)
        finally:
            share.redriven.discard(stream)

    def _warn(self, what: str, trouble: Unavailable) -> None:
        _LOG.warning("service %s %s: %s", self._terms.service, what, trouble)

    async def _again(
        self, share: _Share, stream: StreamId, span: tuple[Position, Position], version: Version
    ) -> tuple[Parked | bool | None, Version]:
        """Handle the events of a stream in a part of the log, from `version` on."""
        assert self._member is not None
        reading = self._member.read(share.partition, *span, stream)
        async for recorded in reading:
            if recorded.version < version:
                continue  # a repeat
            version = Version(recorded.version + 1)
            if self._terms.wanted.has(recorded):
                tried = await self._tried(share, recorded)
                if tried is not None:
                    await reading.aclose()
                    return tried, version
        return None, version

    def _hold_back(self, share: _Share) -> None:
        if not share.is_paused and share.queues.held >= _MOST_HELD and self._member is not None:
            share.is_paused = True
            self._member.pause(share.partition)

    def _go_on(self, share: _Share) -> None:
        if share.is_paused and share.queues.held < _MOST_HELD / 2 and self._member is not None:
            share.is_paused = False
            self._member.resume(share.partition)
