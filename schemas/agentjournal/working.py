"""Workers: sessions that need one are found, taken, and given to the program as runs."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Self

from agentjournal.errors import (
    AgentJournalError,
    AppendOutcomeUnknown,
    LeaseHeld,
    NotCaughtUp,
    Unavailable,
)
from agentjournal.leasing import Keeper
from agentjournal.ports import Runnable
from agentjournal.run import Run
from agentjournal.setbacks import Setbacks
from agentjournal.state import SessionState

if TYPE_CHECKING:
    from agentjournal.session import Session

_LOG = logging.getLogger("agentjournal")
_RANDOM = random.SystemRandom()
_AT_ONCE = 20  # sessions that are looked up together, for each that may be worked on
_MOST_OLD_S = 5.0  # after which what was looked up is looked up again
_TAKE_S = 30.0
_LONGEST_POLL_S = 86_400
_TROUBLE = (Unavailable, NotCaughtUp, AppendOutcomeUnknown)  # of the servers, not of a session
_MOST_PAUSE_S = 10.0


@dataclass(frozen=True, slots=True)
class Source:
    """Where sessions that need a worker come from, and as whom they are taken."""

    find: Callable[[list[str], int], Awaitable[list[Runnable]]]
    session: Callable[[str], Session]
    worker: str
    lease_s: float


@dataclass(frozen=True, slots=True)
class Pace:
    """How a worker paces itself."""

    concurrency: int = 1
    poll_s: float = 1.0
    backoff_s: float = 1.0  # after a setback, doubled with each
    most_backoff_s: float = 300.0

    def __post_init__(self) -> None:
        """Raise ValueError for numbers that make no sense."""
        if self.concurrency < 1:
            raise ValueError(f"concurrency={self.concurrency} is not at least 1")
        if not 0 < self.poll_s < _LONGEST_POLL_S:
            raise ValueError(f"poll_s={self.poll_s} is not between 0 and {_LONGEST_POLL_S:,} s")


class Claimed(Run):
    """A run that a worker was given; the session is its until the run is left or released."""

    def __init__(
        self,
        session: Session,
        state: SessionState,
        keeper: Keeper,
        ended: Callable[[Claimed], None],
    ) -> None:
        super().__init__(session, state, keeper)
        self.error: BaseException | None = None  # that the run was left with
        self._ended: Callable[[Claimed], None] | None = ended  # is told once

    async def __aexit__(self, *left: object) -> None:
        _, error, _ = left
        self.error = error if isinstance(error, BaseException) else None
        await super().__aexit__(*left)

    async def release(self) -> None:
        """Give the lease back. Raises nothing: one that cannot be given back passes by itself."""
        try:
            await super().release()
        finally:
            self._tell()

    async def abandon(self) -> None:
        """Stop renewing the lease, and leave it to pass by itself."""
        try:
            await super().abandon()
        finally:
            self._tell()

    def _tell(self) -> None:
        ended, self._ended = self._ended, None
        if ended is not None:
            ended(self)


class Working:
    """What `Log.work` returns: runs of sessions that need a worker, for as long as it is asked.

    Each is to be left: `async with run`. The next one comes while fewer than `concurrency` are on.
    """

    def __init__(self, source: Source, pace: Pace) -> None:
        self._source, self._pace = source, pace
        self._setbacks = Setbacks(
            pace.backoff_s, pace.most_backoff_s, lambda s: s * _RANDOM.uniform(0.5, 1)
        )
        self._on: set[str] = set()
        self._found: deque[Runnable] = deque()
        self._found_at = 0.0
        self._woken = asyncio.Event()
        self._is_stopped = self._has_found = False
        self._troubles = 0  # in a row

    def stop(self) -> None:
        """Take no more sessions: the iteration ends. What is on goes on."""
        self._is_stopped = True
        self._woken.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Run:
        while not self._is_stopped:
            if len(self._on) >= self._pace.concurrency:
                await self._wait(None)
                continue
            run, pause_s = await self._claimed()
            if run is not None:
                return run
            await self._wait(pause_s)
        raise StopAsyncIteration

    async def run(
        self, function: Callable[[Run], Awaitable[object]], *, stop_s: float = 30.0
    ) -> None:
        """Call `function` with each run, up to `concurrency` at once, until `stop` is called.

        What it raises is logged; the session is given back, and tried again later, by whichever
        worker. After `stop`, what is on has `stop_s` to end, and is cancelled then. Raises
        Unavailable when the servers cannot be reached at first.
        """
        tasks: set[asyncio.Task[None]] = set()
        try:
            async for run in self:
                task = asyncio.create_task(_called(function, run))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            if tasks:
                await asyncio.wait(tasks, timeout=stop_s)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _claimed(self) -> tuple[Run | None, float]:
        """Return a run, or None and how long to pause."""
        try:
            run, was_full = await self._claim()
        except _TROUBLE as trouble:
            if not self._has_found and isinstance(trouble, Unavailable):
                raise
            self._troubles += 1
            _LOG.warning("looking for work: %s", trouble)
            return None, min(_MOST_PAUSE_S, self._pace.poll_s * 2 ** min(self._troubles, 10))
        self._troubles = 0
        poll_s = self._pace.poll_s * _RANDOM.uniform(0.8, 1.2)
        return run, poll_s / 10 if was_full else poll_s

    async def _claim(self) -> tuple[Run | None, bool]:
        """Return a run, or None, and whether there may be more sessions than were looked at."""
        now, most = _now(), _AT_ONCE * self._pace.concurrency
        was_full = False
        if not self._found or now > self._found_at + _MOST_OLD_S:
            without = [*self._on, *self._setbacks.left_alone(now)]
            found = await self._source.find(without, most)
            self._has_found, was_full = True, len(found) == most
            _RANDOM.shuffle(found)  # so that workers do not all want the same one
            self._found, self._found_at = deque(found), now
        while self._found and not self._is_stopped:
            found_one = self._found.popleft()
            is_free = found_one.session_id not in self._on
            if is_free and self._setbacks.may_try(found_one, _now()):
                run = await self._taken(found_one)
                if run is not None:
                    return run, False
        return None, was_full

    async def _taken(self, found: Runnable) -> Run | None:
        """Return a run of the session, None when somebody was faster or it cannot be had."""
        source, session_id = self._source, found.session_id

        def make(session: Session, state: SessionState, keeper: Keeper) -> Run:
            return Claimed(session, state, keeper, partial(self._ended, found))

        self._on.add(session_id)
        try:
            session = source.session(session_id)
            run = await session.taken(source.worker, source.lease_s, 0.0, _TAKE_S, make)
        except LeaseHeld:
            self._on.discard(session_id)
            self._setbacks.leave(found, _now(), self._pace.poll_s)
            return None
        except BaseException as error:
            self._on.discard(session_id)
            if isinstance(error, _TROUBLE) or not isinstance(error, AgentJournalError):
                raise
            _LOG.warning("session %s cannot be taken: %s", session_id, error)
            self._setbacks.ended(found, 0, _now(), failed=True)
            return None
        if run.fence == found.head_version + 1 or not run.answered:
            return run
        await run.release()  # somebody did it in between
        return None

    def _ended(self, found: Runnable, run: Claimed) -> None:
        failed = run.error is not None
        self._on.discard(found.session_id)
        self._setbacks.ended(found, run.state.version, _now(), failed=failed)
        self._woken.set()

    async def _wait(self, seconds: float | None) -> None:
        """Return when a run ended, `stop` was called, or so many seconds have passed."""
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return
        self._woken.clear()


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _called(function: Callable[[Run], Awaitable[object]], run: Run) -> None:
    try:
        async with run:
            await function(run)
    except Exception:  # noqa: BLE001 - whatever it is, other sessions go on
        _LOG.exception("working on session %s", run.session.id)
