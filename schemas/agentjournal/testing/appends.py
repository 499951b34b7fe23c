"""Appends in memory: decided a moment after they are sent, and answered at once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable

from agentjournal.appender import Appender
from agentjournal.ids import StreamId
from agentjournal.pending import Pending
from agentjournal.receipts import Answer
from agentjournal.testing.world import World


class MemoryAppender(Appender):
    """Appends whose answers are never lost, so that nothing is asked again."""

    async def _ask_again(self) -> None:
        """Have nothing to do."""


class MemoryInbox:
    """Where the answers of one client arrive."""

    channel = "memory"

    def __init__(self, deliver: Callable[[list[Answer]], None]) -> None:
        self.deliver = deliver

    async def ready(self, timeout_s: float) -> None:
        """Return: answers always arrive."""

    async def close(self) -> None:
        """Nothing is open."""


class MemoryOutbox:
    """The appends of one client, until they are decided."""

    trouble: BaseException | None = None

    def __init__(self, world: World) -> None:
        self._world = world
        self._deliver: Callable[[list[Answer]], None] = _nowhere
        self._queue: deque[Pending] = deque()
        self._unsettled: dict[tuple[StreamId, str], Pending] = {}
        self._is_closed = False

    def inbox(self, deliver: Callable[[list[Answer]], None]) -> MemoryInbox:
        """Return the inbox that has the answers to these appends."""
        self._deliver = deliver
        return MemoryInbox(deliver)

    @property
    def on_their_way(self) -> int:
        """How many appends are not decided yet."""
        return len(self._queue)

    def put(self, pending: Pending) -> None:
        """Take an append; it is decided once whoever sent it waits."""
        if self._is_closed:
            return
        self._unsettled[pending.key] = pending
        self._queue.append(pending)
        asyncio.get_running_loop().call_soon(self._send)

    def again(self, pending: Pending) -> None:
        """Send an append once more."""
        self.put(pending)

    def forget(self, pending: Pending) -> None:
        """Drop an append."""
        self._unsettled.pop(pending.key, None)

    def find(self, stream: StreamId, append_id: str) -> Pending | None:
        """Return the unsettled append of this id, or None."""
        return self._unsettled.get((stream, append_id))

    def unsettled(self) -> Iterable[Pending]:
        """Return all appends without an outcome."""
        return list(self._unsettled.values())

    async def close(self) -> None:
        """Stop sending; what is on its way is lost, or recorded, and nobody here learns of it."""
        self.cut()

    def cut(self, landed: int = 0) -> None:
        """Be gone as after a kill; of what is on its way the first `landed` reach the log."""
        if not self._is_closed:
            self._is_closed, self._deliver = True, _nowhere
            self._decide(landed)
            self._queue.clear()

    def _send(self) -> None:
        if not self._is_closed:
            self._decide(len(self._queue))

    def _decide(self, most: int) -> None:
        for _ in range(min(most, len(self._queue))):
            pending = self._queue.popleft()
            if pending.outcome.done():
                continue
            value = pending.next_attempt(asyncio.get_running_loop().time())
            answer = self._world.append(pending.stream, value)
            if not pending.in_log.done():
                pending.in_log.set_result(None)
            if answer is not None:
                self._deliver([answer])


def _nowhere(_: list[Answer]) -> None:
    """Nobody is there any more."""
