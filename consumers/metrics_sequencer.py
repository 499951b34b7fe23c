"""What a sequencer counts: once a batch, from what its folds say of themselves."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from agentjournal.ids import Partition, Position
from consumers.metrics import DECISIONS, REFUSALS
from consumers.metrics_lag import Lag, nowhere
from consumers.metrics_leases import LeaseCount
from consumers.takeover import Owned
from consumers.watch import Watch
from streams.partition_fold import Step
from streams.tally import Tally

READER = "sequencer"


class SequencerMetrics:
    """Counts decisions when the log has acknowledged them and their answers were sent.

    `end_of` gives the position behind the last request of a partition, as far as it is known.
    """

    def __init__(
        self,
        watch: Watch | None = None,
        end_of: Callable[[Partition], Position | None] = nowhere,
    ) -> None:
        self.watch = watch or Watch(READER)
        self.read_s = 0.0  # when the batch was read that is on its way
        self._end_of, self._lag = end_of, Lag()
        self._asked_s: dict[Partition, float] = {}  # the broker's time of the last request
        self._leases = LeaseCount()
        metrics = self.watch.metrics
        for decision in DECISIONS:
            metrics.add("agentjournal_decisions_total", 0, decision=decision)
        for reason in REFUSALS:
            metrics.add("agentjournal_dead_letters_total", 0, reason=reason)
        metrics.add("agentjournal_events_written_total", 0)
        metrics.add("agentjournal_leases_taken_total", 0)
        metrics.add("agentjournal_sessions_expired_total", 0)

    def answered(self, steps: Mapping[Partition, Step]) -> None:
        """Count a batch whose records are acknowledged and whose answers were sent."""
        now_s, asked, metrics = time.time(), 0, self.watch.metrics
        for partition, step in steps.items():
            asked += self._count(partition, step.tally, now_s)
            for _, refusal in step.dead:
                metrics.add("agentjournal_dead_letters_total", reason=refusal.reason)
        written = sum(len(step.records) for step in steps.values())
        metrics.add("agentjournal_events_written_total", written)
        self.watch.batch(asked, self.read_s)

    def _count(self, partition: Partition, tally: Tally, now_s: float) -> int:
        metrics = self.watch.metrics
        for decision, count in tally.decisions.items():
            metrics.add("agentjournal_decisions_total", count, decision=decision)
        latencies = [
            (max(0.0, now_s - at_ms / 1_000), count) for at_ms, count in tally.asked.items()
        ]
        metrics.observe_all("agentjournal_append_latency_seconds", latencies)
        if tally.asked:
            self._asked_s[partition] = max(tally.asked) / 1_000
        if tally.leases:
            self._leases.add(partition, tally.leases, now_s * 1_000)
        metrics.add("agentjournal_leases_taken_total", tally.leases_taken)
        metrics.add("agentjournal_sessions_expired_total", tally.expired)
        return sum(tally.asked.values())

    def starts_over(self, trouble: Exception) -> None:
        """Say that everything in memory was dropped."""
        self.watch.starts_over(trouble)
        self._lag.forget()
        self._leases.forget()

    def sample(self, owned: Mapping[Partition, Owned]) -> None:
        """Set the gauges: how far it is behind, and what it has in memory."""
        now_s, records, seconds = time.time(), 0, 0.0
        for partition, each in owned.items():
            behind = self._lag.look(
                partition,
                each.checkpoint.input.next,
                self._end_of(partition),
                read_until_s=self._asked_s.get(partition),
                now_s=now_s,
            )
            records, seconds = records + behind.records, max(seconds, behind.seconds)
        metrics = self.watch.metrics
        metrics.put("agentjournal_lag_records", records, reader=READER)
        metrics.put("agentjournal_lag_seconds", seconds, reader=READER)
        metrics.put("agentjournal_heads", sum(len(each.fold.heads) for each in owned.values()))
        metrics.put("agentjournal_leases_live", self._leases.live(owned, now_s * 1_000))
