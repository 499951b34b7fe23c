"""The sequencer's ports in memory: logs, heads and members that fail wherever chance has it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from agentjournal.ids import Partition, Position, StreamId
from agentjournal.receipts import Answer, Refusal
from streams.decide import Input
from streams.head import Head
from streams.partition_fold import Stored
from streams.ports import (
    Bounds,
    Checkpoint,
    EmissionUnknownError,
    OutageError,
    OwnershipLostError,
    Place,
)

T = TypeVar("T")
Record = tuple[bytes, bytes]


@dataclass(slots=True)
class World:
    """What outlives a sequencer: the logs, what is saved, and who is alive."""

    chance: Random
    faults: float = 0.0  # how often a call fails
    appends: dict[Partition, list[Input]] = field(default_factory=dict[Partition, list[Input]])
    events: dict[Partition, list[Record]] = field(default_factory=dict[Partition, list[Record]])
    dead: list[tuple[Partition, Input, Refusal]] = field(
        default_factory=list[tuple[Partition, Input, Refusal]]
    )
    checkpoints: dict[Partition, Checkpoint] = field(default_factory=dict[Partition, Checkpoint])
    owners: dict[Partition, str] = field(default_factory=dict[Partition, str])
    heads: dict[StreamId, tuple[Partition, Head]] = field(
        default_factory=dict[StreamId, tuple[Partition, Head]]
    )
    alive: list[str] = field(default_factory=list[str])
    answers: list[tuple[str, Answer]] = field(default_factory=list[tuple[str, Answer]])

    def __post_init__(self) -> None:
        for partition in map(Partition, range(8)):
            self.appends[partition], self.events[partition] = [], []
            nowhere = Place(Position(0), b"")
            self.checkpoints[partition] = Checkpoint(partition, 0, 1, nowhere, nowhere)
            self.owners[partition] = ""

    def fails(self) -> bool:
        return self.chance.random() < self.faults

    async def call(self) -> None:
        """Take a moment, in which others go on, and fail now and then."""
        for _ in range(self.chance.randrange(3)):
            await asyncio.sleep(0)
        if self.fails():
            raise OutageError("by chance")


class MemoryAppends:
    """The requests."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._next: dict[Partition, Position] = {}

    async def bounds(self, partition: Partition) -> Bounds:
        await self._world.call()
        log = self._world.appends[partition]
        return Bounds(Position(0), Position(log[-1].position + 1 if log else 0))

    async def read_one(self, partition: Partition, position: Position) -> Input | None:
        await self._world.call()
        return next((i for i in self._world.appends[partition] if i.position == position), None)

    def assign(self, places: Mapping[Partition, Position]) -> None:
        self._next = dict(places)

    async def poll(self, *, timeout_s: float) -> Mapping[Partition, Sequence[Input]]:
        await asyncio.sleep(timeout_s)
        await self._world.call()
        polled: dict[Partition, Sequence[Input]] = {}
        for partition, position in self._next.items():
            waiting = [i for i in self._world.appends[partition] if i.position >= position]
            if taken := waiting[: self._world.chance.randrange(4)]:
                polled[partition] = taken
                self._next[partition] = Position(taken[-1].position + 1)
        return polled


class MemoryEvents:
    """The canonical log; a batch that fails may be there, in whole or in part."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def bounds(self, partition: Partition) -> Bounds:
        await self._world.call()
        return Bounds(Position(0), Position(len(self._world.events[partition])))

    async def read_one(self, partition: Partition, position: Position) -> Stored | None:
        await self._world.call()
        log = self._world.events[partition]
        return Stored(position, *log[position]) if position < len(log) else None

    async def read(self, partition: Partition, span: Bounds) -> AsyncGenerator[Sequence[Stored]]:
        at = span.start
        while at < span.end:
            await self._world.call()
            end = min(span.end, at + self._world.chance.randrange(1, 8))
            log = self._world.events[partition]
            yield [Stored(Position(n), *log[n]) for n in range(at, end)]
            at = Position(end)

    async def write(
        self, records: Mapping[Partition, Sequence[Record]]
    ) -> Mapping[Partition, Stored]:
        await self._moment()
        last: dict[Partition, Stored] = {}
        for partition, batch in records.items():
            log = self._world.events[partition]
            if self._world.fails():
                log.extend(batch[: self._world.chance.randrange(len(batch) + 1)])
                raise EmissionUnknownError("by chance")
            log.extend(batch)
            last[partition] = Stored(Position(len(log) - 1), *batch[-1])
            await self._moment()
        if self._world.fails():
            raise EmissionUnknownError("by chance, though it is there")
        return last

    async def _moment(self) -> None:
        for _ in range(self._world.chance.randrange(6)):
            await asyncio.sleep(0)

    async def write_dead(self, letters: Sequence[tuple[Partition, Input, Refusal]]) -> None:
        await self._moment()
        self._world.dead.extend(letters)
        if self._world.fails():
            raise EmissionUnknownError("by chance")

    async def renew_producer(self) -> None:
        if self._world.fails():
            raise EmissionUnknownError("by chance")


class MemoryHeads:
    """What is saved, conditioned on the epoch as the statements of the database are."""

    def __init__(self, world: World) -> None:
        self._world = world

    def _holds(self, checkpoint: Checkpoint) -> bool:
        return self._world.checkpoints[checkpoint.partition].epoch == checkpoint.epoch

    def _check(self, checkpoint: Checkpoint) -> None:
        if not self._holds(checkpoint):
            raise OwnershipLostError(f"partition {checkpoint.partition}")

    async def owners(self) -> Mapping[Partition, str]:
        await self._world.call()
        return dict(self._world.owners)

    async def take(self, partition: Partition, owner: str) -> Checkpoint:
        await self._world.call()
        held = self._world.checkpoints[partition]
        taken = self._world.checkpoints[partition] = held._replace(epoch=held.epoch + 1)
        self._world.owners[partition] = owner
        await self._world.call()
        return taken

    async def load(
        self, checkpoint: Checkpoint, streams: Iterable[StreamId]
    ) -> Mapping[StreamId, Head | None]:
        await self._world.call()
        self._check(checkpoint)
        saved = self._world.heads
        return {s: saved[s][1] if s in saved else None for s in streams}

    async def save(
        self, saves: Sequence[tuple[Checkpoint, Mapping[StreamId, Head]]]
    ) -> set[Partition]:
        await self._world.call()
        lost: set[Partition] = set()
        for checkpoint, heads in saves:
            if not self._holds(checkpoint):
                lost.add(checkpoint.partition)
                continue
            self._world.checkpoints[checkpoint.partition] = checkpoint
            for stream, head in heads.items():
                self._world.heads[stream] = checkpoint.partition, head
        await self._world.call()
        return lost

    async def drop(self, checkpoint: Checkpoint, mark: bytes) -> None:
        await self._world.call()
        self._check(checkpoint)
        self._world.checkpoints[checkpoint.partition] = checkpoint._replace(
            output=Place(Position(0), mark)
        )
        for stream, (partition, _) in list(self._world.heads.items()):
            if partition == checkpoint.partition:
                del self._world.heads[stream]

    async def release(self, checkpoint: Checkpoint) -> None:
        await self._world.call()
        if self._holds(checkpoint):
            self._world.owners[checkpoint.partition] = ""


class MemoryAnswers:
    """The answers that left."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def send(self, answers: Sequence[tuple[str, Answer]]) -> None:
        self._world.answers.extend(answers)


class MemoryMembership:
    """One member among those alive."""

    def __init__(self, world: World, member: str) -> None:
        self._world, self.member = world, member
        self.is_cut_off = False
        world.alive.append(member)

    async def heartbeat(self) -> list[str]:
        await self._world.call()
        alive = set(self._world.alive)
        # Who was cut off does not see that the others take it for dead.
        return sorted(alive | {self.member} if self.is_cut_off else alive)

    async def leave(self) -> None:
        self.die()

    def cut_off(self) -> None:
        """Be taken for dead by the others, and know nothing of it."""
        self.is_cut_off = True
        self.die()

    def die(self) -> None:
        """Be gone, as the others see it."""
        if self.member in self._world.alive:
            self._world.alive.remove(self.member)
