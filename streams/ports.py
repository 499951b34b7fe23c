"""What the sequencer needs from the outside; adapters are named for their technology."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from agentjournal.ids import Partition, Position, StreamId
from agentjournal.receipts import Answer, Refusal
from streams.decide import Input
from streams.head import Head
from streams.partition_fold import Stored


class Bounds(NamedTuple):
    """The positions a log holds: from `start` to before `end`."""

    start: Position
    end: Position


class Place(NamedTuple):
    """The next position to read in a log, and the digest of the record before it."""

    next: Position
    digest: bytes  # empty: no record was read yet


class Checkpoint(NamedTuple):
    """How far a partition is sequenced and saved, under the epoch of its owner."""

    partition: Partition
    epoch: int
    rules: int
    input: Place
    output: Place


class OwnershipLostError(Exception):
    """Another owner raised the epoch: drop what is not acknowledged, publish nothing more."""


class EmissionUnknownError(Exception):
    """Records may or may not be in the log: throw the producer away, take the partitions anew."""


class OutageError(Exception):
    """A server is away: wait, then start over from what is saved."""


class AppendsLog(Protocol):
    """The requests, read by partition and position."""

    async def bounds(self, partition: Partition) -> Bounds: ...
    async def read_one(self, partition: Partition, position: Position) -> Input | None: ...
    def assign(self, places: Mapping[Partition, Position]) -> None: ...
    async def poll(self, *, timeout_s: float) -> Mapping[Partition, Sequence[Input]]: ...


class EventsLog(Protocol):
    """The canonical log: read back on recovery, written one batch a partition at a time."""

    async def bounds(self, partition: Partition) -> Bounds: ...
    async def read_one(self, partition: Partition, position: Position) -> Stored | None: ...
    def read(self, partition: Partition, span: Bounds) -> AsyncGenerator[Sequence[Stored]]: ...

    async def write(
        self, records: Mapping[Partition, Sequence[tuple[bytes, bytes]]]
    ) -> Mapping[Partition, Stored]:
        """Write (key, record) pairs; return the last record of each partition as it stands.

        Raises EmissionUnknownError when any of them was not acknowledged in time.
        """
        ...

    async def write_dead(self, letters: Sequence[tuple[Partition, Input, Refusal]]) -> None: ...
    async def renew_producer(self) -> None: ...


class Heads(Protocol):
    """Saved heads and checkpoints; every call but the first two is conditioned on the epoch.

    A call that finds another epoch raises OwnershipLostError.
    """

    async def owners(self) -> Mapping[Partition, str]: ...

    async def take(self, partition: Partition, owner: str) -> Checkpoint:
        """Raise the epoch, so that any earlier owner is fenced, and return the checkpoint."""
        ...

    async def load(
        self, checkpoint: Checkpoint, streams: Iterable[StreamId]
    ) -> Mapping[StreamId, Head | None]: ...

    async def save(
        self, saves: Sequence[tuple[Checkpoint, Mapping[StreamId, Head]]]
    ) -> set[Partition]:
        """Save all in one transaction; return the partitions that are ours no longer.

        Those are left as they were; the rest is saved.
        """
        ...

    async def drop(self, checkpoint: Checkpoint, mark: bytes) -> None:
        """Delete the heads of a partition, which are to be rebuilt; `mark` says so until then."""
        ...

    async def release(self, checkpoint: Checkpoint) -> None: ...


class Answers(Protocol):
    """Where answers leave to clients; losing one costs the client a retry."""

    async def send(self, answers: Sequence[tuple[str, Answer]]) -> None: ...
