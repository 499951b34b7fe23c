"""Named locks: one holder at a time, in any process, and a fence for what it writes elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentjournal.leasing import Keeper
from agentjournal.task import Task

PREFIX = "lock:"  # a lock is a task of this name, so that who held it is in the log


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that is held: it is renewed until it is left.

    `fence` grows from holder to holder: an outside system that is given it, and refuses a smaller
    one than it has seen, is safe from a holder that was stopped and woke up late.
    Source: fencing tokens, M. Kleppmann, How to do distributed locking, 2016.
    """

    name: str
    fence: int
    holder: str
    keeper: Keeper

    @property
    def is_lost(self) -> bool:
        """Whether another holder is known to have taken it."""
        return self.keeper.lost is not None

    def check(self) -> None:
        """Raise LeaseLost when another holder is known to have taken it."""
        if self.keeper.lost is not None:
            raise self.keeper.lost


class Locking:
    """What `Log.lock` returns: enter it to hold the lock."""

    def __init__(
        self, name: str, task: Task, holder: str, lease_s: float, wait_s: float | None
    ) -> None:
        self._name, self._task, self._holder, self._lease_s = name, task, holder, lease_s
        self._wait_s = math.inf if wait_s is None else wait_s
        self._keeper: Keeper | None = None

    async def __aenter__(self) -> Lock:
        _, keeper = await self._task.taken(self._holder, self._lease_s, (self._wait_s, 30.0))
        self._keeper = keeper
        return Lock(self._name, keeper.lease.fence, self._holder, keeper)

    async def __aexit__(self, *_: object) -> None:
        if self._keeper is not None:
            await self._keeper.release()
