"""The pure step function over many requests of one partition, to put something beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, islice

from agentjournal.ids import Milliseconds, Partition, Position, StreamId, stream_id
from agentjournal.partitions import partition_of
from benchmarks.load import Record
from streams.decide import Input
from streams.partition_fold import PartitionFold, Step
from streams.rules import rules_1

SESSIONS = 20
PARTITION = Partition(0)
_A_STEP = 100  # requests
_AT_ONCE = 5  # requests of a client that have one time of the broker
_AT_MS = 1_769_860_800_000  # 2026-01-31T12:00:00Z


def session_streams() -> list[StreamId]:
    """Return the streams of sessions that are all in the partition."""
    named = (stream_id("session", "default", f"bench-{n}") for n in count())
    return list(islice((s for s in named if partition_of(s.encode()) == PARTITION), SESSIONS))


def inputs(records: Sequence[Record]) -> list[Input]:
    """Return requests as they stand in the partition, one after the other."""
    return [
        Input(Position(at), Milliseconds(_AT_MS + at // _AT_ONCE), *record)
        for at, record in enumerate(records)
    ]


def new_fold() -> PartitionFold:
    """Return the fold of the partition before its first request."""
    return PartitionFold(rules_1(), PARTITION, Position(0))


def polls(given: Sequence[Input]) -> Iterator[Sequence[Input]]:
    """Yield what goes into each step."""
    for at in range(0, len(given), _A_STEP):
        yield given[at : at + _A_STEP]


def stepped(fold: PartitionFold, some: Sequence[Input]) -> Step:
    """Take a step; every request is of one event at least, and none may be refused."""
    fold.put(dict.fromkeys(fold.missing(some)))
    step = fold.step(some)
    if len(step.records) < len(some):
        raise RuntimeError("a request was refused")
    return step
