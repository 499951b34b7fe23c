"""How a service handles events: which, how often it tries, and what it says of one it gave up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from agentjournal.envelope import Recorded
from agentjournal.events import Retry
from agentjournal.stored import written_time
from agentjournal.subscribing import Wanted
from agentjournal.subscriptions import Parked

DEFAULT_RETRY = Retry(max_attempts=5, backoff_s=[0.5, 2, 8, 30])
_LONGEST_S = 86_400.0
_MOST_ERROR = 1_000  # characters that are kept


@dataclass(frozen=True, slots=True)
class Terms:
    """How a service handles events, and how often it tries."""

    service: str
    wanted: Wanted
    retry: Retry
    timeout_s: float
    concurrency: int
    most_parked: int  # streams of a process: more are a bad release, not bad data

    def __post_init__(self) -> None:
        """Raise ValueError for numbers that make no sense."""
        if not 0 < self.timeout_s <= _LONGEST_S:
            raise ValueError(f"timeout_s={self.timeout_s} is not between 0 and {_LONGEST_S:,g} s")
        if self.concurrency < 1:
            raise ValueError(f"concurrency={self.concurrency} is not at least 1")
        if self.most_parked < 0:
            raise ValueError(f"most_parked={self.most_parked} is not at least 0")

    def wait_after(self, error: Exception, attempt: int) -> float | None:
        """Return how long to wait before an event is handled again; None: it is not."""
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if attempt >= self.retry.max_attempts or (
            self.retry.on and kinds.isdisjoint(self.retry.on)
        ):
            return None
        waits = self.retry.backoff_s or [0]
        return float(waits[min(attempt, len(waits)) - 1])

    def parked(self, recorded: Recorded, error: Exception, attempts: int) -> Parked:
        """Return what is kept of a stream that stops at an event."""
        name, text = type(error).__name__, str(error)
        return Parked(
            self.service,
            recorded.stream,
            recorded.version,
            recorded.partition,
            recorded.position,
            recorded.id,
            recorded.type,
            (f"{name}: {text}" if text else name)[:_MOST_ERROR],
            attempts,
            written_time(datetime.now(UTC)),
        )
