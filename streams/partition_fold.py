"""One partition's fold as a step machine: inputs go in, records to write and answers come out.

It holds the heads it was given, the canonical tail that is still to be met again, and nothing else:
no I/O, no clock.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agentjournal.envelope import record_order
from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position, StreamId
from agentjournal.receipts import Answer, Refusal
from streams.decide import Input, decide, stream_of_key
from streams.head import Head
from streams.rules import Rules
from streams.tally import Tally


class Stored(NamedTuple):
    """A record as it stands in the `events` topic."""

    position: Position
    key: bytes
    record: bytes


@dataclass(slots=True, eq=False)
class Step:
    """What folding some inputs asks for, in this order: dead letters, records, then answers."""

    next_input: Position
    input_digest: bytes  # of the last input
    dead: list[tuple[Input, Refusal]] = field(default_factory=list)
    records: list[tuple[bytes, bytes]] = field(default_factory=list)  # key, record
    answers: list[tuple[str, Answer]] = field(default_factory=list)  # reply_to, answer
    heads: dict[StreamId, Head] = field(default_factory=dict)  # changed, as after the last input
    met: Stored | None = None  # the last canonical record that was met again
    tally: Tally = field(default_factory=Tally)  # of what was not decided before


class PartitionFold:
    """Folds the inputs of one partition from `next_input` on."""

    def __init__(
        self,
        rules: Rules,
        partition: Partition,
        next_input: Position,
        tail: Iterable[Stored] = (),
    ) -> None:
        """`tail` holds the canonical records of inputs from `next_input` on, repeats dropped."""
        self.rules, self.partition, self.next_input = rules, partition, next_input
        self.heads: dict[StreamId, Head | None] = {}
        self._tail = deque(tail)

    def missing(self, inputs: Sequence[Input]) -> set[StreamId]:
        """Return the streams whose heads must be put in before `inputs` can be folded."""
        streams = {stream_of_key(given.key) for given in inputs}
        return {stream for stream in streams if stream is not None and stream not in self.heads}

    def put(self, heads: Mapping[StreamId, Head | None]) -> None:
        """Take heads as they were saved; None says that the stream is empty."""
        self.heads.update(heads)

    def forget(self, streams: Iterable[StreamId]) -> None:
        """Drop heads from memory; only those whose last change is saved may be dropped."""
        for stream in streams:
            self.heads.pop(stream, None)

    def step(self, inputs: Sequence[Input]) -> Step:
        """Fold `inputs`, which go on where the last step ended.

        Raises IntegrityError when the canonical log holds something else than this fold gives.
        """
        step = Step(self.next_input, b"")
        for given in inputs:
            self._fold_one(given, step)
        if inputs:
            step.next_input = self.next_input
            step.input_digest = input_digest(inputs[-1])
        return step

    def _fold_one(self, given: Input, step: Step) -> None:
        stream = stream_of_key(given.key)
        head = self.heads[stream] if stream is not None else None
        outcome = decide(self.rules, self.partition, given, head)
        _, after, records, reply_to, answer, dead = outcome
        if self._tail:
            records = self._meet(given, records, step)
        else:
            step.tally.count(given, head, outcome)
        for record in records:
            step.records.append((given.key or b"", record))
        if stream is not None and after is not None and after is not head:
            self.heads[stream] = step.heads[stream] = after
        if dead is not None:
            step.dead.append((given, dead))
        if answer is not None and reply_to is not None:
            step.answers.append((reply_to, answer))
        self.next_input = Position(given.position + 1)

    def _meet(self, given: Input, records: Sequence[bytes], step: Step) -> Sequence[bytes]:
        """Tick off what the log holds already; return the records that it does not hold."""
        known = min(len(records), len(self._tail))
        for record in records[:known]:
            met = self._tail.popleft()
            if met.record != record:
                raise IntegrityError(
                    f"partition {self.partition}, events position {met.position}: the log holds "
                    f"another record than the request at {given.position} gives"
                )
            step.met = met
        if self._tail and record_order(self._tail[0].record)[0] <= given.position:
            raise IntegrityError(
                f"partition {self.partition}, events position {self._tail[0].position}: the log "
                f"holds a record that the request at {given.position} does not give"
            )
        return records[known:]


def input_digest(given: Input) -> bytes:
    """Return 16 bytes that tell this record of `appends` from any other at its position."""
    digest = hashlib.sha256(b"%d %d " % (given.position, given.timestamp_ms))
    for part in (given.key, given.value):
        digest.update(b"-" if part is None else b"%d:" % len(part) + part)
    return digest.digest()[:16]


def record_digest(record: bytes) -> bytes:
    """Return 16 bytes that tell this record of `events` from any other."""
    return hashlib.sha256(record).digest()[:16]


def first_occurrences(stored: Iterable[Stored], after: tuple[int, int]) -> Iterable[Stored]:
    """Yield the records that come first in the order of decisions, beyond `after`."""
    last = after
    for item in stored:
        order = record_order(item.record)
        if order > last:
            last = order
            yield item
