"""A handle of one session: append what happens, load what it has come to."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from agentjournal.appender import Appender
from agentjournal.envelope import Recorded
from agentjournal.errors import AppendRejected, VersionConflict
from agentjournal.events import ConversationRewound, Event, SessionEnded, SessionStarted
from agentjournal.ids import StreamId, parse_stream
from agentjournal.kafka_ends import KafkaEnds
from agentjournal.loading import Place, check_place, stored_state
from agentjournal.outgoing import Redact, checked_id, outgoing
from agentjournal.partitions import partition_of
from agentjournal.pending import Pending
from agentjournal.postgres_views import PostgresViews
from agentjournal.receipts import Receipt
from agentjournal.requests import MAX_REQUEST_BYTES, NewEvent, Request
from agentjournal.state import SessionState
from agentjournal.summary import log_loaded
from agentjournal.windows.compaction import CompactionRequest, compaction_of
from agentjournal.windows.tokens import Count, default_count
from agentjournal.windows.tool_output import MAX_CHARACTERS
from agentjournal.windows.window import Window, WindowFormat, WindowOptions, Windows

_FOLLOW_S = 0.1


@dataclass(frozen=True, slots=True)
class Servers:
    """What a handle talks to."""

    appender: Appender
    views: PostgresViews
    ends: KafkaEnds
    redact: Redact | None


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes, as it stands in the envelope of every event."""

    source: str
    agent: str | None
    worker: str | None


class PendingAppend:
    """An append that Kafka has, and that is not decided yet."""

    def __init__(
        self, appender: Appender, pending: Pending, note: Callable[[Receipt], Receipt]
    ) -> None:
        self._appender, self._pending, self._note = appender, pending, note

    @property
    def append_id(self) -> str:
        return self._pending.request.append_id

    async def receipt(self, *, timeout_s: float = 30.0) -> Receipt:
        """Wait for the outcome. Raises what `Session.append` raises."""
        return self._note(await self._appender.receipt(self._pending, timeout_s))


class Session:
    """One session. Making a handle writes nothing; its appends keep their order."""

    def __init__(
        self, stream: StreamId, servers: Servers, writer: Writer, start: SessionStarted
    ) -> None:
        self.stream = stream
        _, self.tenant, self.id = parse_stream(stream)
        self._servers, self._writer, self._start = servers, writer, start
        self._begun: NewEvent | None = outgoing("session", start, servers.redact)[0]
        self._last: Receipt | None = None
        self._order = asyncio.Lock()
        self._windows = Windows()

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
        except VersionConflict:
            self._last = None  # the next load must show who was faster
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

    async def load(
        self,
        *,
        at: int | datetime | None = None,
        fresh: bool = True,
        timeout_s: float = 5.0,
    ) -> SessionState:
        """Return the session's state, now or as it was `at` a version or a moment.

        Fresh means that everything acknowledged through this handle is in it; through one that has
        written nothing, or was not the fastest, what anybody wrote before this call. A moment has a
        zone, and is by the broker's clock: the state before the first event recorded after it.
        A version that the read models do not show yet is waited for, fresh or not.

        Raises SessionNotFound, VersionNotFound when the session has not come to the version,
        NotCaughtUp when the read models stay behind for `timeout_s`, StreamParked, EventUnreadable
        when an event does not fit its model, IntegrityError when the stored events are not the
        whole chain; ValueError for a version below 0 or a moment without a zone.
        """
        check_place(at)
        began = asyncio.get_running_loop().time()
        known = await self._reached(at, timeout_s, fresh=fresh)
        waited_s = asyncio.get_running_loop().time() - began
        state = await stored_state(self._servers.views, self.stream, at)
        summary = state.summary
        summary.waited_s = waited_s
        summary.lag = None if known is None else max(0, known - summary.last_version)
        log_loaded(self.stream, summary)
        return state

    async def window(
        self,
        *,
        max_tokens: int | None = None,
        trim_to: float = 0.7,
        format: WindowFormat = "openai-chat",  # noqa: A002 - the field's word
        count: Count | None = None,
        max_output: int = MAX_CHARACTERS,
        timeout_s: float = 5.0,
    ) -> Window:
        """Return the conversation as a model's API takes it, in at most `max_tokens` tokens.

        Nothing is cut until the budget is passed; then whole turns go, oldest first, until at most
        `trim_to` of it is used, so that between two cuts each window begins with the one before.
        System and developer messages, summaries and the last turn stay. One tool's output is shown
        up to `max_output` characters, head and tail. `count` replaces the tokenizer.

        Raises what `load` raises, WindowTooSmall when what must be kept does not fit, ValueError
        for options that make no sense.
        """
        options = WindowOptions(max_tokens, trim_to, format, max_output)
        return self._windows.window(await self.load(timeout_s=timeout_s), options, count)

    async def compact(  # noqa: PLR0913 - a keyword for each thing one may ask for
        self,
        *,
        summary: str,
        keep_last: int = 4,
        carried: Sequence[tuple[str, str]] = (),
        carry_identifiers: bool = False,
        summarised_by: str = "caller",
        force: bool = False,
        count: Count | None = None,
    ) -> Receipt:
        """Let `summary` stand for all but the last `keep_last` messages; the log keeps everything.

        `carried` are (kind, value) to be kept word for word; with `carry_identifiers` account and
        order numbers, amounts, paths, dates and addresses that the summary leaves out are among
        them. A call and its results are never parted: more than `keep_last` may stay.

        Raises CompactionRefused when the summary is empty, there is nothing to cover, or an
        identifier would be lost and neither `carry_identifiers` nor `force` is given;
        VersionConflict when the session moved on meanwhile, and what `load` and `append` raise.
        """
        asked = CompactionRequest(
            summary, keep_last, carried, carry_identifiers, summarised_by, force
        )
        state = await self.load()
        event = compaction_of(state, asked, count or default_count())
        return await self.append(event, expected_version=state.version)

    async def rewind(self, to_version: int, *, reason: str = "rewound") -> Receipt:
        """Let nothing that was said after `to_version` count any more: undo, or edit and go on.

        Calls that were made stay made. Raises ValueError when the session has no such version,
        VersionConflict when it moved on meanwhile, and what `load` and `append` raise.
        """
        state = await self.load()
        if not 0 <= to_version <= state.version:
            raise ValueError(f"to_version={to_version} is not between 0 and {state.version}")
        event = ConversationRewound(to_version=to_version, reason=reason)
        return await self.append(event, expected_version=state.version)

    async def events(self, *, after: int = 0, follow: bool = False) -> AsyncIterator[Recorded]:
        """Yield the session's events with version > `after`; with `follow`, for ever.

        Raises StreamParked.
        """
        if not follow:
            await self._catch_up(5.0)
        while True:
            async for recorded in self._servers.views.read_stream(self.stream, after=after):
                after = recorded.version
                yield recorded
            if not follow:
                return
            await asyncio.sleep(_FOLLOW_S)

    async def end(self, *, reason: str | None = None, timeout_s: float = 30.0) -> Receipt:
        """End the session. Raises what `append` raises."""
        return await self.append(SessionEnded(reason=reason), timeout_s=timeout_s)

    async def _reached(self, at: Place | None, timeout_s: float, *, fresh: bool) -> int | None:
        """Wait as `load` says; return the least version that the log is known to have."""
        written = None if self._last is None else self._last.last_version
        if at is None or isinstance(at, datetime):
            if not fresh:
                return written
            return await self._catch_up(timeout_s)
        head = await self._servers.views.head(self.stream)
        if head is not None and head[0] >= at:
            return written  # what is past does not change: there is nothing to wait for
        return await self._catch_up(timeout_s, through=at)

    async def _catch_up(self, timeout_s: float, *, through: int = 0) -> int:
        """Wait until what is acknowledged shows; return the version that is known to show then."""
        partition = partition_of(self.stream.encode())
        if self._last is not None and self._last.last_version >= through:
            await self._servers.views.wait_for_input(
                self.stream, partition, self._last.position, timeout_s
            )
            return self._last.last_version
        # Nothing was written through this handle: what others had acknowledged must show all the
        # same, or a worker that starts after a crash would decide on an old state.
        end = await self._servers.ends.end_of(partition, timeout_s=timeout_s)
        await self._servers.views.wait_for_output(partition, end, timeout_s)
        return 0  # all there was shows, however much that is

    async def _submit(
        self,
        events: Event | Sequence[Event],
        expected_version: int | None,
        append_id: str | None,
        timeout_s: float,
    ) -> Pending:
        request = Request(
            append_id=secrets.token_hex(16)
            if append_id is None
            else checked_id("append_id", append_id),
            events=outgoing("session", events, self._servers.redact),
            source=self._writer.source,
            expected_version=expected_version,
            reply_to=self._servers.appender.reply_to,
            agent=self._writer.agent,
            worker=self._writer.worker,
            start=self._begun,
        )
        size = len(request.encoded())
        if size > MAX_REQUEST_BYTES:
            raise AppendRejected("events", f"is {size:,} bytes, at most {MAX_REQUEST_BYTES:,}")
        async with self._order:
            return await self._servers.appender.submit(self.stream, request, timeout_s)

    def _note(self, receipt: Receipt) -> Receipt:
        self._begun = None  # the session exists now
        if self._last is None or receipt.position > self._last.position:
            self._last = receipt
        return receipt
