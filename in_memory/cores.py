"""Sequencing and projecting in one process: the folds that the servers' roles run, and no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from agentjournal.envelope import Recorded
from agentjournal.ids import Milliseconds, Partition, Position
from agentjournal.receipts import Answer
from in_memory.rows import Rows
from projections.conversation import CONVERSATION
from projections.environment import ENVIRONMENT
from projections.execution import EXECUTION
from projections.facts import FACTS_PROJECTION
from projections.memory import MEMORY
from projections.plan import PLAN
from projections.projection import Projection
from projections.recall import RECALL
from projections.results import RESULTS_PROJECTION
from projections.rows import Row
from streams.decide import Input
from streams.partition_fold import PartitionFold
from streams.rules import rules_1

PROJECTIONS: Sequence[Projection] = (
    CONVERSATION,
    PLAN,
    MEMORY,
    EXECUTION,
    ENVIRONMENT,
    RESULTS_PROJECTION,
    FACTS_PROJECTION,
    RECALL,
)


class Cores:
    """One log: a fold for each partition, and the rows that its events come to."""

    def __init__(self) -> None:
        rules = rules_1()
        partitions = map(Partition, range(rules.partitions))
        self._folds = {p: PartitionFold(rules, p, Position(0)) for p in partitions}
        self._recorded: list[Recorded] = []
        self._tables = {
            table.name: rows
            for projection in PROJECTIONS
            for rows in [Rows(projection)]
            for table in projection.tables
        }

    def sequence(
        self, partition: Partition, at_ms: Milliseconds, key: bytes, value: bytes
    ) -> tuple[Sequence[bytes], Answer | None]:
        """Return the canonical records that the next request of a partition comes to, and its
        answer."""
        fold = self._folds[partition]
        given = Input(fold.next_input, at_ms, key, value)
        fold.put(dict.fromkeys(fold.missing([given])))  # no head is ever out of memory
        step = fold.step([given])
        answers = [answer for _, answer in step.answers]
        return [record for _, record in step.records], answers[0] if answers else None

    def lease_ends_ms(self) -> int:
        """Return when the last of the leases that stand passes, 0 where there is none."""
        heads = (head for fold in self._folds.values() for head in fold.heads.values())
        return max((head.lease.until_ms for head in heads if head is not None), default=0)

    def project(self, recorded: Recorded) -> None:
        """Take the next event of its partition. It is folded when rows are asked for."""
        self._recorded.append(recorded)

    def rows(self, table: str) -> Sequence[Row]:
        """Return the rows of a table of the read models, as they stand now."""
        return self._tables[table].current(table, self._recorded)
