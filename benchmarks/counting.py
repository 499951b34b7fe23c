"""What metrics cost: the pure step function and the counts of each step, beside no counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import count, islice
from unittest.mock import patch

from agentjournal.ids import Milliseconds, Partition, Position, stream_id
from agentjournal.partitions import partition_of
from agentjournal.settings import Settings
from benchmarks.load import batches_of
from benchmarks.pairs import cost_percent
from consumers.metrics_sequencer import SequencerMetrics
from streams.decide import Input
from streams.partition_fold import PartitionFold, Step
from streams.rules import rules_1
from streams.tally import Tally

SESSIONS, A_SESSION, A_STEP = 20, 100, 100
PARTITION = Partition(0)
AT_MS = 1_769_860_800_000  # 2026-01-31T12:00:00Z


async def metrics_cost(settings: Settings) -> Mapping[str, tuple[float, str]]:
    """Fold requests of one message each, with and without counting them."""
    del settings  # nothing is asked of the servers
    given, seen = _inputs(), SequencerMetrics()
    return {"metrics.cost": (cost_percent(partial(_uncounted, given), _counted(given, seen)), "%")}


def _inputs() -> list[Input]:
    named = (stream_id("session", "default", f"bench-{n}") for n in count())
    streams = list(islice((s for s in named if partition_of(s.encode()) == PARTITION), SESSIONS))
    asked = [record for stream in streams for record in batches_of(stream, A_SESSION, 1)]
    mixed = [record for first in range(A_SESSION) for record in asked[first::A_SESSION]]
    return [
        # What one client sends at once has one time of the broker.
        Input(Position(at), Milliseconds(AT_MS + at // 5), *record)
        for at, record in enumerate(mixed)
    ]


def _uncounted(given: list[Input]) -> None:
    with patch.object(Tally, "count", _nothing):
        _fold(given, lambda _: None)


def _nothing(*_: object) -> None:
    pass


def _counted(given: list[Input], seen: SequencerMetrics) -> Callable[[], None]:
    return partial(_fold, given, lambda step: seen.answered({PARTITION: step}))


def _fold(given: list[Input], each: Callable[[Step], None]) -> None:
    fold = PartitionFold(rules_1(), PARTITION, Position(0))
    for at in range(0, len(given), A_STEP):
        some = given[at : at + A_STEP]
        fold.put(dict.fromkeys(fold.missing(some)))
        step = fold.step(some)
        if len(step.records) != len(some):
            raise RuntimeError("a request was refused")
        each(step)
