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
        _, after, _, _, answer, dead = outcome
        asked, decisions, at = self.asked, self.decisions, given.timestamp_ms
        asked[at] = asked.get(at, 0) + 1
        if answer is None:
            if dead is not None:  # it could not even be read
                decisions[dead.reason] = decisions.get(dead.reason, 0) + 1
            return
        result = answer.outcome
        if type(result) is not Receipt:
            reason = result[0]
            decisions[reason] = decisions.get(reason, 0) + 1
        elif result.duplicate:
            decisions["duplicate"] = decisions.get("duplicate", 0) + 1
        else:
            decisions["accepted"] = decisions.get("accepted", 0) + 1
            if after is not None:
                self._changed(answer.stream, before or EMPTY, after)

    def _changed(self, stream: StreamId, before: Head, after: Head) -> None:
        if after.lease_fence or before.lease_fence:
            self.leases[stream] = after.lease_until_ms
            # A fence is the version of the event that took the lease.
            self.leases_taken += after.lease_fence > before.version
        if after.status == "expired" and before.status != "expired":
            self.expired += 1
