"""A handle of one stream: append what happens, read what happened."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import TYPE_CHECKING

from agentjournal.artifacts import Artifacts
from agentjournal.counters import Counters
from agentjournal.envelope import Recorded
from agentjournal.errors import AppendOutcomeUnknown, AppendRejected, VersionConflict
from agentjournal.events import Event, SessionStarted
from agentjournal.ids import StreamId, parse_stream
from agentjournal.limits import NO_LIMITS, TenantLimits
from agentjournal.live import Live
from agentjournal.memory.known import KnownFacts
from agentjournal.memory.recalls import Recalls
from agentjournal.outgoing import Redact, checked_id, outgoing
from agentjournal.partitions import partition_of
from agentjournal.pending import Pending
from agentjournal.ports import EVENTS, Appends, Ends, Notes, Results, Views, Work
from agentjournal.receipts import Receipt
from agentjournal.requests import MAX_REQUEST_BYTES, NewEvent, Request
from agentjournal.subscriptions import Subscriptions
from agentjournal.working_memory import NoteStore, now

if TYPE_CHECKING:
    from agentjournal.memory.extractors import Extracting


@dataclass(frozen=True, slots=True)
class Time:
    """How this process lets time pass, and how it measures it."""

    monotonic: Callable[[], float] = monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True, slots=True)
class Servers:
    """What a handle talks to."""

    appender: Appends
    views: Views
    ends: Ends
    redact: Redact | None
    notes: Notes
    artifacts: Artifacts | None
    stored_notes: NoteStore
    results: Results
    subscriptions: Subscriptions
    live: Live
    counters: Counters
    work: Work
    recalls: Recalls
    facts: KnownFacts
    limits: TenantLimits = NO_LIMITS
    extracting: Callable[[], Extracting] | None = None  # makes the extractor; None: rules alone
    now: Callable[[], datetime] = now  # the clock that a reader goes by
    time: Time = Time()


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes, as it stands in the envelope of every event."""

    source: str
    agent: str | None
    worker: str | None
    fence: int | None = None  # of the lease that it writes under


class PendingAppend:
    """An append that Kafka has, and that is not decided yet."""

    def __init__(
        self, appender: Appends, pending: Pending, note: Callable[[Receipt], Receipt]
    ) -> None:
        self._appender, self._pending, self._note = appender, pending, note

    @property
    def append_id(self) -> str:
        return self._pending.request.append_id

    async def receipt(self, *, timeout_s: float = 30.0) -> Receipt:
        """Wait for the outcome. Raises what `Session.append` raises."""
        return self._note(await self._appender.receipt(self._pending, timeout_s))


class Handle:
    """One stream. Making a handle writes nothing; its appends keep their order."""

    def __init__(
        self,
        stream: StreamId,
        servers: Servers,
        writer: Writer,
        start: SessionStarted | None = None,
    ) -> None:
        self.stream = stream
        self._kind, self.tenant, self.id = parse_stream(stream)
        self._servers, self._writer = servers, writer
        self._begun: NewEvent | None = None  # what comes first when the stream is empty
        if start is not None:
            begun = servers.limits.start(start)
            self._begun = outgoing(self._kind, begun, servers.redact)[0]
        self._last: Receipt | None = None
        self._written_at = 0.0
        self._notes_to: Callable[[Receipt], object] | None = None  # who reads what this one wrote
        self._order = asyncio.Lock()

    async def append(
        self,
        events: Event | Sequence[Event],
        /,
        *,
        expected_version: int | None = None,
        append_id: str | None = None,
        timeout_s: float = 30.0,
    ) -> Receipt:
        """Append events as one atomic batch; return its receipt once it is in the log.

        `expected_version` is the session's last version as you know it, 0 for a new session.
        Appending the same again under the same `append_id` returns the original receipt; for that,
        give ids like `message_id` too, which else are new in every event.

        Raises AppendRejected when an event is not valid, VersionConflict when the session moved on,
        AppendIdReused, StreamDeleted, SessionMismatch, AppendOutcomeUnknown when no answer came in
        time, Unavailable when nothing could be sent.
        """
        pending = await self._submit(events, expected_version, append_id, timeout_s)
        try:
            return self._note(await self._servers.appender.receipt(pending, timeout_s))
        except (VersionConflict, AppendOutcomeUnknown, asyncio.CancelledError):
            self._last = None  # the next load must show who was faster, or what became of it
            raise

    async def enqueue(
        self,
        events: Event | Sequence[Event],
        /,
        *,
        append_id: str | None = None,
        timeout_s: float = 30.0,
    ) -> PendingAppend:
        """Hand events over to Kafka; return before they are decided, so versions are not known.

        One that is refused later stands in the topic `dead`. Raises AppendRejected when an event is
        not valid, Unavailable when Kafka does not take it within `timeout_s`.
        """
        pending = await self._submit(events, None, append_id, timeout_s)
        await self._servers.appender.handed_over(pending, timeout_s)
        return PendingAppend(self._servers.appender, pending, self._note)

    async def events(self, *, after: int = 0, follow: bool = False) -> AsyncIterator[Recorded]:
        """Yield the session's events with version > `after`; with `follow`, for ever.

        Raises StreamParked, Unavailable.
        """
        if follow:
            following = self._servers.live.events(self.stream, after)
        else:
            await self._catch_up(5.0)
            following = self._servers.views.read_stream(self.stream, after=after)
        async with aclosing(following):
            async for recorded in following:
                yield recorded

    async def _catch_up(self, timeout_s: float, *, through: int = 0) -> int:
        """Wait until what is acknowledged shows; return the version that is known to show then."""
        partition, views = partition_of(self.stream.encode()), self._servers.views
        last = self._last  # an append that fails meanwhile forgets it
        if last is not None and last.last_version >= through:
            await views.wait_for_input(last, timeout_s, projections=EVENTS)
            return last.last_version
        # Nothing was written through this handle: what others had acknowledged must show all the
        # same, or a worker that starts after a crash would decide on an old state.
        end = await self._servers.ends.end_of(partition, timeout_s=timeout_s)
        await views.wait_for_output(partition, end, timeout_s, projections=EVENTS)
        return 0  # all there was shows, however much that is

    async def _submit(
        self,
        events: Event | Sequence[Event],
        expected_version: int | None,
        append_id: str | None,
        timeout_s: float,
    ) -> Pending:
        store = self._servers.artifacts
        contents: dict[str, bytes] = {}
        request = Request(
            append_id=secrets.token_hex(16)
            if append_id is None
            else checked_id("append_id", append_id),
            events=outgoing(
                self._kind, events, self._servers.redact, None if store is None else contents
            ),
            source=self._writer.source,
            expected_version=expected_version,
            fence=self._writer.fence,
            reply_to=self._servers.appender.reply_to,
            agent=self._writer.agent,
            worker=self._writer.worker,
            start=self._begun,
        )
        size = len(request.encoded())
        if size > MAX_REQUEST_BYTES:
            raise AppendRejected("events", f"is {size:,} bytes, at most {MAX_REQUEST_BYTES:,}")
        async with self._order:
            if store is not None:
                for content in contents.values():
                    await store.save(content)
            return await self._servers.appender.submit(self.stream, request, timeout_s)

    @property
    def begins(self) -> bool:
        """Whether the next append carries the event that its stream begins with."""
        return self._begun is not None

    @property
    def redacts(self) -> bool:
        """Whether the log may have less of an event than was appended."""
        return self._servers.redact is not None

    @property
    def written_at(self) -> float:
        """When something was last recorded through this handle, by the loop's clock."""
        return self._written_at

    @property
    def time(self) -> Time:
        """How waiting is done."""
        return self._servers.time

    def now(self) -> datetime:
        """Return the time of the clock that this log's readers go by."""
        return self._servers.now()

    async def likely_version(self) -> int:
        """Return the version that the stream has as far as can be told without waiting."""
        if self._last is not None:
            return self._last.last_version
        head = await self._servers.views.head(self.stream)
        return 0 if head is None else head[0]

    def _note(self, receipt: Receipt) -> Receipt:
        self._written_at = asyncio.get_running_loop().time()
        if self._notes_to is not None:
            self._notes_to(receipt)
        self._begun = None  # the session exists now
        if self._last is None or receipt.position > self._last.position:
            self._last = receipt
        return receipt
