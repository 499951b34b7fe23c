"""An append on its way: sent how often, and what came of it. Pure but for the futures it holds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from agentjournal.errors import (
    AgentJournalError,
    AppendIdReused,
    AppendRejected,
    LeaseHeld,
    LeaseLost,
    LimitExceeded,
    SessionMismatch,
    StreamDeleted,
    VersionConflict,
)
from agentjournal.ids import Partition, StreamId
from agentjournal.receipts import Answer, Receipt, Refusal
from agentjournal.requests import Request, content_digest

FIRST_PATIENCE_S = 2.0  # how long an answer may take before the request is sent again
MOST_PATIENCE_S = 16.0


@dataclass(slots=True, eq=False)
class Pending:
    """One append until its outcome is known.

    `in_log` is done once Kafka has the request, `outcome` once its receipt is here.
    """

    request: Request
    stream: StreamId
    partition: Partition
    in_log: asyncio.Future[None] = field(default_factory=asyncio.Future)
    outcome: asyncio.Future[Receipt] = field(default_factory=asyncio.Future)
    attempts: int = 0  # sendings handed to a producer; 0: nothing ever left this process
    asked_at: float = 0.0  # of the last sending, by the loop's clock

    @property
    def key(self) -> tuple[StreamId, str]:
        """What tells it from every other append on its way."""
        return self.stream, self.request.append_id

    def is_of(self, request: Request) -> bool:
        """Whether `request` asks for the very same: whoever sends it waits for this one."""
        mine = self.request
        return (mine.expected_version, mine.fence, content_digest(mine.events)) == (
            request.expected_version,
            request.fence,
            content_digest(request.events),
        )

    def next_attempt(self, now: float) -> bytes:
        """Return the record value of the next sending, and count it."""
        self.attempts += 1
        self.asked_at = now
        return self.request.with_attempt(self.attempts).encoded()

    def overdue(self, now: float) -> bool:
        """Whether the answer is late enough to ask again: later each time."""
        patience = min(FIRST_PATIENCE_S * 2 ** max(0, self.attempts - 1), MOST_PATIENCE_S)
        return self.in_log.done() and now - self.asked_at > patience

    def settle(self, answer: Answer) -> bool:
        """Take an answer; return whether it settles the append.

        An acceptance settles it from any attempt. A refusal only when it answers the last one:
        an earlier attempt may have been accepted after that.
        """
        if self.outcome.done():
            return True
        match answer.outcome:
            case Receipt() as receipt:
                self.outcome.set_result(receipt)
            case Refusal() as refusal:
                if answer.attempt != self.attempts:
                    return False
                self.fail(_error(self, refusal))
        if not self.in_log.done():
            self.in_log.set_result(None)
        return True

    def fail(self, error: AgentJournalError) -> None:
        """Settle the append with an error."""
        for future in (self.in_log, self.outcome):
            if not future.done() and (future is self.outcome or not self.attempts):
                future.set_exception(error)
                future.exception()  # whoever asks gets it; nobody asking is not a fault


def _error(pending: Pending, refusal: Refusal) -> AgentJournalError:
    match refusal.reason:
        case "conflict":
            expected = pending.request.expected_version or 0
            return VersionConflict(pending.stream, expected, refusal.version)
        case "rejected" | "not_idle":
            return AppendRejected(refusal.path, refusal.text)
        case "id_reused":
            return AppendIdReused(pending.request.append_id, pending.stream)
        case "limit":
            value, maximum = refusal.version, int(refusal.text)
            return LimitExceeded(pending.stream, refusal.path, value, maximum)
        case "lease_held":
            return LeaseHeld(pending.stream, refusal.path, refusal.text)
        case "deleted" | "mismatch" | "lease_lost":
            return _ERRORS[refusal.reason](pending.stream)


_ERRORS = {"deleted": StreamDeleted, "mismatch": SessionMismatch, "lease_lost": LeaseLost}
