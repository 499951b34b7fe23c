"""What a fold decided, counted as it decides: for metrics, nothing depends on it."""

from __future__ import annotations

from agentjournal.ids import Milliseconds, StreamId
from agentjournal.receipts import Receipt
from streams.decide import Input, Outcome
from streams.head import EMPTY, Head


class Tally:
    """Decisions of one step by kind, and what they did to leases and sessions."""

    __slots__ = ("asked", "decisions", "expired", "leases", "leases_taken")

    def __init__(self) -> None:
        self.decisions: dict[str, int] = {}
        self.asked: dict[Milliseconds, int] = {}  # requests by the broker's time
        self.leases: dict[StreamId, int] = {}  # until when, in ms; 0: released
        self.leases_taken = 0
        self.expired = 0

    def count(self, given: Input, before: Head | None, outcome: Outcome) -> None:
        """Count one outcome; `before` is the head that it was decided on."""
        # Every request comes by here, so fields go by their places: names take twice as long.
        at, answer = given[1], outcome[4]
        asked, decisions = self.asked, self.decisions
        asked[at] = asked[at] + 1 if at in asked else 1
        decision: str
        if answer is None:
            if outcome.dead is None:
                return
            decision = outcome.dead.reason  # it could not even be read
        elif type(result := answer[3]) is not Receipt:
            decision = result[0]
        elif result.duplicate:
            decision = "duplicate"
        else:
            decision, after = "accepted", outcome[1]
            if after is not None and (after.lease_fence or after.status != "open"):
                self._changed(answer[0], before or EMPTY, after)
            elif before is not None and before.lease_fence:
                self.leases[answer[0]] = 0
        decisions[decision] = decisions[decision] + 1 if decision in decisions else 1

    def _changed(self, stream: StreamId, before: Head, after: Head) -> None:
        if after.lease_fence or before.lease_fence:
            self.leases[stream] = after.lease_until_ms
            # A fence is the version of the event that took the lease.
            self.leases_taken += after.lease_fence > before.version
        if after.status == "expired" and before.status != "expired":
            self.expired += 1
