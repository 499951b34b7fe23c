"""What metrics cost: the pure step function and the counts of each step, beside no counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from unittest.mock import patch

from agentjournal.settings import Settings
from benchmarks.load import batches_of
from benchmarks.pairs import cost_percent
from benchmarks.stepping import PARTITION, inputs, new_fold, polls, session_streams, stepped
from consumers.metrics_sequencer import SequencerMetrics
from streams.decide import Input
from streams.partition_fold import Step
from streams.tally import Tally

A_SESSION = 100


async def metrics_cost(settings: Settings) -> Mapping[str, tuple[float, str]]:
    """Fold requests of one message each, with and without counting them."""
    del settings  # nothing is asked of the servers
    given, seen = _inputs(), SequencerMetrics()
    return {"metrics.cost": (cost_percent(partial(_uncounted, given), _counted(given, seen)), "%")}


def _inputs() -> list[Input]:
    asked = [batches_of(stream, A_SESSION, 1) for stream in session_streams()]
    return inputs([record for turn in zip(*asked, strict=True) for record in turn])


def _uncounted(given: list[Input]) -> None:
    with patch.object(Tally, "count", _nothing):
        _fold(given, lambda _: None)


def _nothing(*_: object) -> None:
    pass


def _counted(given: list[Input], seen: SequencerMetrics) -> Callable[[], None]:
    return partial(_fold, given, lambda step: seen.answered({PARTITION: step}))


def _fold(given: list[Input], each: Callable[[Step], None]) -> None:
    fold = new_fold()
    for some in polls(given):
        each(stepped(fold, some))
