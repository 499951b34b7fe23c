"""What limits cost: the pure step function with every limit enforced, beside one without any."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from agentjournal.events import Limit, Limits, SessionStarted
from agentjournal.settings import Settings
from benchmarks.load import batch_of, message
from benchmarks.pairs import cost_percent
from benchmarks.stepping import inputs, new_fold, polls, session_streams, stepped
from streams.decide import Input

A_SESSION = 100  # requests
FAR = Limit(maximum=10**9, policy="refuse")
ENFORCED = Limits(events=FAR, bytes=FAR, tokens=FAR, age_s=FAR)


async def limits_cost(settings: Settings) -> Mapping[str, tuple[float, str]]:
    """Fold requests of one message each, of sessions that have four limits, or none."""
    del settings  # nothing is asked of the servers
    cost = cost_percent(_steps(None), _steps(ENFORCED))
    return {"limits.cost": (cost, "%")}


def _steps(limits: Limits | None) -> Callable[[], None]:
    start, streams = SessionStarted(agent="bench", limits=limits), session_streams()
    first = [batch_of(stream, [start, message()]) for stream in streams]
    later = [batch_of(stream, [message()]) for _ in range(A_SESSION - 1) for stream in streams]
    return partial(_fold, inputs(first + later))


def _fold(given: list[Input]) -> None:
    fold = new_fold()
    for some in polls(given):
        stepped(fold, some)
