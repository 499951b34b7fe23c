"""The sequencer's loop over ports in memory: whatever fails, and whoever else works, one log."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider
from structlog.testing import capture_logs

from agentjournal.errors import IntegrityError
from agentjournal.ids import Milliseconds, Partition, Position, StreamId
from consumers.otel_traces import traced_requests
from consumers.sequencer import Sequencer, SequencerOptions, SequencerPorts
from streams.decide import Input
from streams.head import Head
from streams.partition_fold import PartitionFold, Stored, first_occurrences
from tests.support import BEGAN_MS, RULES, event, request, said, session_in, started
from tests.unit.memory_ports import (
    MemoryAnswers,
    MemoryAppends,
    MemoryEvents,
    MemoryHeads,
    MemoryMembership,
    World,
)

PARTITIONS = [Partition(2), Partition(5)]
# Half of the requests carry a trace: it decides nothing, whatever fails meanwhile.
TRACES = traced_requests("appends", TracerProvider(shutdown_on_exit=False))
TRACEPARENTS = [None, f"00-{'a' * 32}-{'b' * 16}-01"]
OPTIONS = SequencerOptions(
    save_every_s=0, most_heads=2, fold_again=2, poll_s=0, heartbeat_s=0, outage_pause_s=0
)


@pytest.fixture(autouse=True, scope="module")
def quiet() -> Generator[None]:
    """What goes wrong by chance is not worth a line."""
    with capture_logs():
        yield


class Worker:
    """One sequencer, running until it is stopped or killed."""

    def __init__(self, world: World, name: str) -> None:
        self.membership = MemoryMembership(world, name)
        ports = SequencerPorts(
            MemoryAppends(world),
            MemoryEvents(world),
            MemoryHeads(world),
            MemoryAnswers(world),
            self.membership,
            traces=TRACES,
        )
        self._stop = asyncio.Event()
        self.sequencer = Sequencer(ports, RULES, OPTIONS)
        self.running = asyncio.create_task(self.sequencer.run(self._stop))

    async def stopped(self) -> None:
        self._stop.set()
        async with asyncio.timeout(10):
            await self.running

    async def killed(self) -> None:
        """End as by `kill -9`: nothing is finished, nothing is said."""
        self.membership.die()
        inside: Any = self.sequencer
        tasks = [t for t in (self.running, inside._emitting, inside._saving) if t is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def ask(world: World, count: int) -> None:
    """Put requests into the log, of all sorts."""
    for _ in range(count):
        partition = world.chance.choice(PARTITIONS)
        stream = session_in(partition, world.chance.randrange(4))
        asked = request(
            *[said(str(n)) for n in range(world.chance.randrange(1, 4))],
            append_id=f"a-{world.chance.randrange(40)}",
            expected_version=world.chance.choice([None, None, None, 3]),
            start=world.chance.choice([None, started("u-7"), started("u-8")]),
        )
        if world.chance.random() < 0.1:
            asked = asked._replace(events=[event("session.deleted", reason="asked for")])
        traceparent = TRACEPARENTS[len(world.appends[partition]) % 2]
        events = [each._replace(traceparent=traceparent) for each in asked.events]
        asked = asked._replace(events=events)
        value = b"rubbish" if world.chance.random() < 0.1 else asked.encoded()
        log = world.appends[partition]
        position = Position(log[-1].position + 1 if log else 0)
        log.append(Input(position, Milliseconds(BEGAN_MS + position), stream.encode(), value))


def expected(world: World, partition: Partition) -> tuple[list[bytes], dict[StreamId, Head], int]:
    """Return what the fold of the whole input gives: records, heads, dead letters."""
    fold = PartitionFold(RULES, partition, Position(0))
    given = world.appends[partition]
    fold.put(dict.fromkeys(fold.missing(given)))
    step = fold.step(given)
    return [record for _, record in step.records], step.heads, len(step.dead)


def check(world: World) -> None:
    for partition in PARTITIONS:
        records, heads, dead = expected(world, partition)
        written = [Stored(Position(n), *r) for n, r in enumerate(world.events[partition])]
        kept = [stored.record for stored in first_occurrences(written, (-1, -1))]
        assert kept == records
        assert {s: head for s, (p, head) in world.heads.items() if p == partition} == heads
        letters = [given.position for p, given, _ in world.dead if p == partition]
        assert len(set(letters)) == dead
        checkpoint = world.checkpoints[partition]
        assert checkpoint.input.next == len(world.appends[partition])


def is_saved(world: World) -> bool:
    return all(world.checkpoints[p].input.next == len(world.appends[p]) for p in PARTITIONS)


async def settled(world: World) -> None:
    """Let one sequencer without any trouble finish whatever there is."""
    world.faults = 0
    world.alive.clear()
    last = Worker(world, "zz-last")
    async with asyncio.timeout(20):
        while not (last.sequencer.ready.is_set() and is_saved(world)):
            if last.running.done():
                last.running.result()
            await asyncio.sleep(0)
    await last.stopped()


async def live(seed: int, faults: float) -> None:
    world = World(Random(seed), faults)
    workers: list[Worker] = []
    for number in range(12):
        ask(world, world.chance.randrange(8))
        match world.chance.randrange(6):
            case 0 | 1:
                workers.append(Worker(world, f"{world.chance.randrange(100):02}-{number}"))
            case 2 if workers:
                await workers.pop(world.chance.randrange(len(workers))).killed()
            case 3 if workers:
                world.chance.choice(workers).membership.cut_off()
            case 4 if workers:
                await workers.pop(world.chance.randrange(len(workers))).stopped()
            case 5:  # a power cut takes everybody, and what the broker had not written
                while workers:
                    await workers.pop().killed()
                log = world.events[world.chance.choice(PARTITIONS)]
                del log[max(0, len(log) - world.chance.randrange(4)) :]
            case _:
                pass
        for _ in range(world.chance.choice([5, 50, 300])):
            await asyncio.sleep(0)
    await settled_after(world, workers)


async def settled_after(world: World, workers: list[Worker]) -> None:
    for worker in workers:
        if worker.running.done():
            worker.running.result()
    settling = asyncio.create_task(settled(world))
    for worker in workers:
        await worker.killed()
    await settling
    check(world)


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.02, 0.1, 0.3]))
def test_whatever_fails_the_log_is_the_fold_of_the_requests(seed: int, faults: float) -> None:
    asyncio.run(live(seed, faults))


def test_a_sequencer_stops_when_it_is_told_to_though_the_broker_is_away() -> None:
    async def stopping() -> None:
        world = World(Random(1))
        worker = Worker(world, "one")
        async with asyncio.timeout(10):
            await worker.sequencer.ready.wait()
        world.faults = 1
        for _ in range(20):
            await asyncio.sleep(0)
        await worker.stopped()

    asyncio.run(stopping())


def test_a_log_that_holds_something_else_stops_it() -> None:
    async def meeting() -> None:
        world = World(Random(1))
        ask(world, 20)
        other = World(Random(2))
        ask(other, 20)
        partition = PARTITIONS[0]
        records, _, _ = expected(other, partition)
        world.events[partition] = [(b"", record) for record in records]
        worker = Worker(world, "one")
        async with asyncio.timeout(10):
            await asyncio.wait([worker.running])
        with pytest.raises(IntegrityError):
            worker.running.result()

    asyncio.run(meeting())
