"""Taking a stream, holding it while one works on it, and giving it back."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from agentjournal.errors import (
    AgentJournalError,
    AppendOutcomeUnknown,
    LeaseHeld,
    Unavailable,
    VersionConflict,
)
from agentjournal.events import Event, LeaseAcquired, LeaseReleased, LeaseRenewed
from agentjournal.handle import Time
from agentjournal.ids import StreamId
from agentjournal.receipts import Receipt

_RELEASE_S = 5.0  # how long giving back may take; what is not given back passes by itself
SHORTEST_S, LONGEST_S = 0.05, 86_400.0


class Appending(Protocol):
    """A handle of a stream."""

    stream: StreamId

    async def append(
        self,
        events: Event,
        /,
        *,
        expected_version: int | None = None,
        timeout_s: float = 30.0,
    ) -> Receipt: ...
    async def likely_version(self) -> int: ...
    @property
    def begins(self) -> bool: ...
    @property
    def written_at(self) -> float: ...
    @property
    def time(self) -> Time: ...


def process_name() -> str:
    """Return a name for this process that no other has: host, number, and something random."""
    return _name_of(os.getpid())


@cache
def _name_of(pid: int) -> str:  # a process that is forked off has a name of its own
    return f"{socket.gethostname()[:100]}:{pid}:{secrets.token_hex(4)}"


def checked_length(lease_s: float) -> float:
    """Return `lease_s`. Raises ValueError when it is no length for a lease."""
    if not SHORTEST_S <= lease_s <= LONGEST_S:
        raise ValueError(f"lease_s={lease_s} is not between {SHORTEST_S} and {LONGEST_S:,.0f} s")
    return lease_s


async def take(handle: Appending, holder: str, lease_s: float, timeout_s: float) -> Receipt:
    """Take the lease of a stream; the fence is the receipt's first version.

    Raises LeaseHeld, and what `append` raises but VersionConflict.
    """
    deadline = asyncio.get_running_loop().time() + timeout_s
    version = await handle.likely_version()
    while True:
        left = max(0.001, deadline - asyncio.get_running_loop().time())
        fence = version + 1 + (handle.begins and version == 0)
        event = LeaseAcquired(holder=holder, fence=fence, lease_s=lease_s)
        try:
            return await handle.append(event, expected_version=version, timeout_s=left)
        except VersionConflict as conflict:
            version = conflict.actual_version  # a lost race is no reason: only a lease is


async def take_when_free(
    handle: Appending, holder: str, lease_s: float, wait_s: float, timeout_s: float = 30.0
) -> Receipt:
    """Take the lease of a stream, waiting up to `wait_s` while another holds it.

    Raises LeaseHeld when it is still held then, and what `take` raises.
    """
    time = handle.time
    deadline, pause = time.monotonic() + wait_s, 0.01
    while True:
        try:
            return await take(handle, holder, lease_s, timeout_s)
        except LeaseHeld:
            left = deadline - time.monotonic()
            if left <= 0:
                raise
            await time.sleep(min(pause, left))  # nobody tells when a lease is given back
            pause = min(2 * pause, 0.25)


@dataclass(slots=True)
class Keeper:
    """Renews a lease while it is held: only when nothing was written under it for half of it."""

    handle: Appending  # writes under the fence
    lease: LeaseAcquired
    lost: AgentJournalError | None = None
    recorded: Callable[[Event, Receipt], None] | None = None  # is told of each renewal
    _task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to renew."""
        self._task = asyncio.create_task(self._renew())

    async def _renew(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = self.handle.written_at + self.lease.lease_s / 2
            if (left := due - loop.time()) > 0:
                await asyncio.sleep(left)
                continue
            try:
                await self._renew_once()
            except Unavailable:
                await asyncio.sleep(min(0.25, self.lease.lease_s / 8))  # the servers may be back
            except AgentJournalError as error:
                self.lost = error
                return

    async def _renew_once(self) -> None:
        event = LeaseRenewed(fence=self.lease.fence)
        asked = self.handle.append(event, timeout_s=max(1.0, self.lease.lease_s))
        while True:
            try:
                receipt = await asked
                break
            except AppendOutcomeUnknown as unknown:  # whoever folds what is recorded must be told
                asked = unknown.retry()
        if self.recorded is not None:
            self.recorded(event, receipt)

    async def stop(self) -> None:
        """Stop renewing."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def release(self) -> None:
        """Stop renewing, and give the lease back if it is still held.

        Raises nothing: a lease that cannot be given back passes by itself.
        """
        await self.stop()
        if self.lost is None:
            with contextlib.suppress(AgentJournalError):
                event = LeaseReleased(fence=self.lease.fence)
                await self.handle.append(event, timeout_s=_RELEASE_S)
