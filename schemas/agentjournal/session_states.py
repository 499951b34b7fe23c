"""What a session has come to, now or as it was."""

from __future__ import annotations

import asyncio
from datetime import datetime

from agentjournal.errors import SessionNotFound
from agentjournal.events import SessionStarted
from agentjournal.handle import Servers, Writer
from agentjournal.ids import StreamId
from agentjournal.loading import KeptState, Place, check_place, stored_state
from agentjournal.session_calls import SessionCalls
from agentjournal.state import SessionState
from agentjournal.summary import log_loaded
from agentjournal.windows.window import Windows


class SessionStates(SessionCalls):
    """Reading a session's state."""

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

    async def current(self, *, timeout_s: float = 5.0) -> SessionState:
        """Return the newest state without reading all of it again: one to look at, not to keep.

        It goes on at the next read of this handle. Empty when the session has not begun. Raises
        what `load` raises.
        """
        reached = await self._reached(None, timeout_s, fresh=True)
        try:
            state = await self._kept.current(self._servers.views, self.stream)
        except SessionNotFound:
            return SessionState(self.stream)
        return self._noted(state, reached)

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
