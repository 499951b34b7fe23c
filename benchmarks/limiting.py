"""What limits cost: the pure step function with every limit enforced, beside one without any."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count, islice

from agentjournal.events import Limit, Limits, SessionStarted
from agentjournal.ids import Milliseconds, Partition, Position, StreamId, stream_id
from agentjournal.outgoing import outgoing
from agentjournal.partitions import partition_of
from agentjournal.requests import Request
from agentjournal.settings import Settings
from benchmarks.load import message
from benchmarks.pairs import cost_percent
from streams.decide import Input
from streams.partition_fold import PartitionFold
from streams.rules import rules_1

REQUESTS, SESSIONS, A_STEP = 2_000, 20, 100
PARTITION = Partition(0)
AT_MS = 1_769_860_800_000  # 2026-01-31T12:00:00Z
FAR = Limit(maximum=10**9, policy="refuse")
ENFORCED = Limits(events=FAR, bytes=FAR, tokens=FAR, age_s=FAR)


async def limits_cost(settings: Settings) -> Mapping[str, tuple[float, str]]:
    """Fold requests of one message each, of sessions that have four limits, or none."""
    del settings  # nothing is asked of the servers
    cost = cost_percent(_steps(None), _steps(ENFORCED))
    return {"limits.cost": (cost, "%")}


def _steps(limits: Limits | None) -> Callable[[], None]:
    named = (stream_id("session", "default", f"bench-{n}") for n in count())
    streams = list(islice((s for s in named if partition_of(s.encode()) == PARTITION), SESSIONS))
    start = SessionStarted(agent="bench", limits=limits)
    given = [
        Input(
            Position(at),
            Milliseconds(AT_MS + at),
            *_request(streams[at % SESSIONS], start if at < SESSIONS else None),
        )
        for at in range(REQUESTS)
    ]
    return partial(_fold, given)


def _request(stream: StreamId, start: SessionStarted | None) -> tuple[bytes, bytes]:
    request = Request(
        append_id=secrets.token_hex(16),
        events=outgoing("session", message(), None),
        source="/default/bench",
        reply_to="bench.receipts",
        agent="bench",
        start=None if start is None else outgoing("session", start, None)[0],
    )
    return stream.encode(), request.encoded()


def _fold(given: list[Input]) -> None:
    fold = PartitionFold(rules_1(), PARTITION, Position(0))
    for at in range(0, len(given), A_STEP):
        some = given[at : at + A_STEP]
        fold.put(dict.fromkeys(fold.missing(some)))
        if len(fold.step(some).records) < len(some):
            raise RuntimeError("a request was refused")
