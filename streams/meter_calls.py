"""Calls that have no outcome yet, and which of them are past their lease."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection
from dataclasses import dataclass

from agentjournal.ids import Partition, StreamId, Version

_SLACK = 1_000  # entries of calls that ended, beyond as many as are open, before they are cleared


@dataclass(slots=True)
class Call:
    """A tool that a worker began to run."""

    stream: StreamId
    call_id: str
    version: Version  # of the event that began it
    partition: Partition
    tenant: str
    tool: str
    started_ms: int
    lease_until_ms: int
    fence: int | None


class OpenCalls:
    """The calls that were begun last and are open, up to a number of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._calls: dict[tuple[StreamId, str], Call] = {}
        # (when it is due, version, stream, call id): an entry counts for the call that is open
        # under this id, and each open call that was not due yet has one.
        self._due: list[tuple[int, Version, StreamId, str]] = []

    def __len__(self) -> int:
        return len(self._calls)

    def begin(self, call: Call, due_ms: int) -> None:
        """Take in a call; another attempt takes the place of the one before."""
        self._calls.pop((call.stream, call.call_id), None)
        if len(self._calls) >= self._most:
            del self._calls[next(iter(self._calls))]
        self._calls[call.stream, call.call_id] = call
        self.again(call, due_ms)
        if len(self._due) > 2 * len(self._calls) + _SLACK:
            self._due = [entry for entry in self._due if self._of(entry) is not None]
            heapq.heapify(self._due)

    def end(self, stream: StreamId, call_id: str) -> Call | None:
        """Return the call that ended; None: it is not known."""
        return self._calls.pop((stream, call_id), None)

    def again(self, call: Call, due_ms: int) -> None:
        """Let a call be due later."""
        heapq.heappush(self._due, (due_ms, call.version, call.stream, call.call_id))

    def due(self, now_ms: int, read_to_ms: Callable[[Partition], int]) -> list[Call]:
        """Return the calls that became due and are open still, each once.

        `read_to_ms` says up to when everything was read of a partition: an outcome from before may
        not have been seen yet.
        """
        found: list[Call] = []
        unread: list[tuple[int, Version, StreamId, str]] = []
        while self._due and self._due[0][0] <= now_ms:
            entry = heapq.heappop(self._due)
            call = self._of(entry)
            if call is None:
                continue
            if entry[0] <= read_to_ms(call.partition):
                found.append(call)
            else:
                unread.append(entry)
        for entry in unread:
            heapq.heappush(self._due, entry)
        return found

    def keep(self, partitions: Collection[Partition]) -> None:
        """Forget the calls of all other partitions: another meter sees their outcomes."""
        for key in [key for key, call in self._calls.items() if call.partition not in partitions]:
            del self._calls[key]

    def _of(self, entry: tuple[int, Version, StreamId, str]) -> Call | None:
        _, version, stream, call_id = entry
        call = self._calls.get((stream, call_id))
        return call if call is not None and call.version == version else None
