"""What outlives every client of a log in memory: the log, its read models, and its artifacts."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from agentjournal.drafts import Draft, Piece
from agentjournal.envelope import Recorded, parse_record
from agentjournal.ids import Partition, Position, StreamId
from agentjournal.partitions import PARTITIONS, partition_of
from agentjournal.receipts import Answer
from agentjournal.subscriptions import Parked, Place
from agentjournal.testing.clock import Clock
from agentjournal.testing.cores import new_cores


class World:
    """One log in memory."""

    def __init__(self, clock: Clock | None = None) -> None:
        """Raises NotConfigured where the cores are not installed."""
        self.cores = new_cores()
        self.clock = clock or Clock()
        self.events: dict[Partition, list[Recorded]] = {
            Partition(partition): [] for partition in range(PARTITIONS)
        }
        self.streams: defaultdict[StreamId, list[Recorded]] = defaultdict(list)
        self.artifacts = MemoryArtifacts()
        self.drafts = DraftStore()
        self.counted: dict[tuple[str, str, float], list[tuple[datetime, int]]] = {}
        self.groups: dict[str, Group] = {}
        self.parked: dict[str, dict[StreamId, Parked]] = {}  # by service
        self.asked: dict[str, dict[StreamId, Partition]] = {}
        self._waiting: list[asyncio.Future[None]] = []

    def append(self, stream: StreamId, value: bytes) -> Answer | None:
        """Decide on a request, and record what it comes to."""
        key = stream.encode()
        partition = partition_of(key)
        log = self.events[partition]
        records, answer = self.cores.sequence(partition, self.clock.tick(), key, value)
        for record in records:
            recorded = parse_record(record, partition, Position(len(log)))
            log.append(recorded)
            self.streams[recorded.stream].append(recorded)
            self.cores.project(recorded)
        self.wake()
        return answer

    def wake(self) -> None:
        """Let whoever waits look again."""
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.get_loop().call_soon_threadsafe(_finish, future)

    async def changed(self) -> None:
        """Return when something was recorded, or a place was given free."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        await future


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


@dataclass(slots=True)
class Group:
    """Who subscribes under one name: its members share the partitions."""

    members: list[object] = field(default_factory=list[object])
    owners: dict[Partition, object] = field(default_factory=dict[Partition, object])
    places: dict[Partition, Place] = field(default_factory=dict[Partition, Place])


class Feed(Protocol):
    """One who is told how drafts grow."""

    followed: set[StreamId]
    deliver: Callable[[StreamId, Piece], None]


class DraftStore:
    """Messages that are being written, when each was last heard of, and who follows them."""

    def __init__(self) -> None:
        self.kept: dict[StreamId, dict[str, tuple[Draft, str, datetime]]] = {}
        self.feeds: list[Feed] = []


class MemoryArtifacts:
    """Content by name."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    async def put(self, name: str, content: bytes) -> None:
        """Keep `content`."""
        self._kept[name] = content

    async def get(self, name: str) -> bytes | None:
        """Return what was kept, None when there is nothing."""
        return self._kept.get(name)
