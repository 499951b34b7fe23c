"""A session: load what it has come to, and show it to a model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime

from agentjournal.errors import AppendRejected
from agentjournal.events import ConversationRewound, SessionEnded, SessionStarted
from agentjournal.forks import ForkTooDeepError, forked
from agentjournal.handle import Servers, Writer
from agentjournal.ids import StreamId, new_event_id, stream_id
from agentjournal.loading import KeptState, Place, check_place, stored_state
from agentjournal.receipts import Receipt
from agentjournal.session_files import SessionFiles
from agentjournal.state import SessionState
from agentjournal.summary import log_loaded
from agentjournal.windows.compaction import CompactionRequest, compaction_of
from agentjournal.windows.tokens import Count, default_count
from agentjournal.windows.tool_output import MAX_CHARACTERS
from agentjournal.windows.window import Window, WindowFormat, WindowOptions, Windows


class Session(SessionFiles):
    """One session. Making a handle writes nothing; its appends keep their order."""

    def __init__(
        self, stream: StreamId, servers: Servers, writer: Writer, start: SessionStarted
    ) -> None:
        super().__init__(stream, servers, writer, start)
        self._start = start
        self._windows, self._kept = Windows(), KeptState()

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
        reached = await self._reached(at, timeout_s, fresh=fresh)
        state = await stored_state(self._servers.views, self.stream, at)
        return self._noted(state, reached)

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
        reached = await self._reached(None, timeout_s, fresh=True)
        state = await self._kept.current(self._servers.views, self.stream)
        return self._windows.window(self._noted(state, reached), options, count)

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

    async def fork(
        self,
        *,
        at: int | datetime | None = None,
        session_id: str | None = None,
        title: str | None = None,
        agent: str | None = None,
        timeout_s: float = 30.0,
    ) -> Session:
        """Begin a session that goes on from where this one is, or was `at` a version or a moment.

        Nothing is copied: what the fork is loaded as begins with the messages, calls and summaries
        of this one, at versions up to 0. It has this one's user, and its title and agent unless
        others are given. Both go on without each other; calls that are open stay this one's.

        Raises what `load` raises of this session, SessionMismatch when it is another user's than
        this handle's, VersionConflict when there is a session `session_id`, ValueError for
        version 0, AppendRejected when it is a fork of too many forks, and what `append` raises.
        """
        check_place(at)
        await self._reached(at, timeout_s, fresh=True)
        try:
            state = await stored_state(self._servers.views, self.stream, at, forks=1)
        except ForkTooDeepError as error:
            raise AppendRejected("at", str(error)) from None
        start = forked(state, self._start, title=title, agent=agent)
        stream = stream_id("session", self.tenant, session_id or new_event_id())
        fork = Session(stream, self._servers, self._writer, start)
        await fork.append(start, expected_version=0, timeout_s=timeout_s)
        return fork

    async def end(self, *, reason: str | None = None, timeout_s: float = 30.0) -> Receipt:
        """End the session. Raises what `append` raises."""
        return await self.append(SessionEnded(reason=reason), timeout_s=timeout_s)

    def _noted(self, state: SessionState, reached: tuple[int | None, float]) -> SessionState:
        """Note in the summary what was waited for, and log it."""
        known, waited_s = reached
        summary = state.summary
        summary.waited_s = waited_s
        summary.lag = None if known is None else max(0, known - summary.last_version)
        log_loaded(self.stream, summary)
        return state

    async def _reached(
        self, at: Place | None, timeout_s: float, *, fresh: bool
    ) -> tuple[int | None, float]:
        """Wait as `load` says; return what `_known` does, and how long it took in seconds."""
        began = asyncio.get_running_loop().time()
        known = await self._known(at, timeout_s, fresh=fresh)
        return known, asyncio.get_running_loop().time() - began

    async def _known(self, at: Place | None, timeout_s: float, *, fresh: bool) -> int | None:
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
