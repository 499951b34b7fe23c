"""Taking a partition: fence the old owner, check both logs, and read what must be met again."""

from __future__ import annotations

from collections import deque
from contextlib import aclosing
from dataclasses import dataclass, field

import structlog

from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position, StreamId
from streams.decide import stream_of_key
from streams.head import Head
from streams.partition_fold import (
    PartitionFold,
    Step,
    Stored,
    first_occurrences,
    input_digest,
    record_digest,
)
from streams.ports import AppendsLog, Bounds, Checkpoint, EventsLog, Heads, Place
from streams.rebuild import Rebuild
from streams.rules import Rules

_LOG = structlog.get_logger()
_HEADS_AT_ONCE = 2_000
_REBUILDING = b"rebuilding"  # in place of a digest: the saved heads are not all there yet


@dataclass(slots=True)
class Owned:
    """A partition that is ours: what is saved, what is acknowledged, and the fold."""

    checkpoint: Checkpoint  # as it is to be saved next: everything acknowledged
    fold: PartitionFold
    unsaved: dict[StreamId, Head] = field(default_factory=dict)
    unacknowledged: list[Step] = field(default_factory=list)
    dirty: bool = False  # acknowledged beyond what is saved

    def acknowledge(self, step: Step, last: Stored | None) -> None:
        """Note that everything `step` asked for is in the log, its last record at `last`."""
        self.unacknowledged.remove(step)
        last = last or step.met
        self.checkpoint = self.checkpoint._replace(
            input=Place(step.next_input, step.input_digest),
            output=self.checkpoint.output
            if last is None
            else Place(Position(last.position + 1), record_digest(last.record)),
        )
        self.unsaved.update(step.heads)
        self.dirty = True

    def evict(self, most: int) -> None:
        """Forget heads beyond `most`, but none whose last change is not saved."""
        if len(self.fold.heads) <= most:
            return
        busy = set(self.unsaved).union(*(step.heads for step in self.unacknowledged))
        self.fold.forget([stream for stream in self.fold.heads if stream not in busy])


async def take_over(
    partition: Partition,
    owner: str,
    *,
    rules: Rules,
    logs: tuple[AppendsLog, EventsLog],
    heads: Heads,
    fold_again: int,
) -> Owned:
    """Return the partition, ready to fold what the canonical log does not hold yet.

    The last `fold_again` records are met again: their requests are folded once more, since the
    answers may have been lost with the old owner, and it shows that this fold decides as that did.

    Raises OwnershipLostError when another took it meanwhile, IntegrityError when the logs do not
    hold what the checkpoint was saved over, so that nothing is ever skipped.
    """
    appends, events = logs
    checkpoint = await heads.take(partition, owner)
    if checkpoint.rules != rules.number:
        raise IntegrityError(
            f"partition {partition} is decided under rules {checkpoint.rules}, "
            f"this release knows rules {rules.number}: install the newer release"
        )
    # An empty database beside requests that were trimmed already: the heads are in `events`.
    is_new = checkpoint.input == Place(Position(0), b"")
    start_is_gone = is_new and (await appends.bounds(partition)).start > 0
    if not start_is_gone:
        await _check_appends(appends, checkpoint)
    if start_is_gone or not await _fits(events, checkpoint):
        checkpoint = await _rebuilt(checkpoint, appends, events, heads)
    return await _with_tail(checkpoint, rules, events, heads, fold_again)


async def _with_tail(
    checkpoint: Checkpoint, rules: Rules, events: EventsLog, heads: Heads, fold_again: int
) -> Owned:
    """Bring the saved heads to what the log holds, but for its end, which is to be met again."""
    partition = checkpoint.partition
    rebuild = Rebuild(partition, checkpoint.output.next, checkpoint.input.next)
    saved: dict[StreamId, Head | None] = {}
    end: deque[Stored] = deque()
    bounds = await events.bounds(partition)
    span = Bounds(checkpoint.output.next, bounds.end)
    async with aclosing(events.read(partition, span)) as tail_in_parts:
        async for some in tail_in_parts:
            end.extend(some)
            known = [end.popleft() for _ in range(len(end) - fold_again)]
            streams = {stream_of_key(key) for key in {each.key for each in known}}
            if missing := [s for s in streams if s is not None and s not in saved]:
                loaded = await heads.load(checkpoint, sorted(missing))
                saved |= loaded
                rebuild.put(loaded)
            for each in known:
                rebuild.add(each)
    tail = [*rebuild.tail, *first_occurrences(end, rebuild.order)]
    fold = PartitionFold(rules, partition, rebuild.next_input, tail)
    fold.put(saved | rebuild.heads)
    _LOG.info(
        "partition_taken",
        partition=partition,
        epoch=checkpoint.epoch,
        next_input=rebuild.next_input,
        records_known=rebuild.next_output - checkpoint.output.next,
        to_meet_again=len(tail),
    )
    return Owned(checkpoint, fold, {stream: rebuild.heads[stream] for stream in rebuild.changed})


async def _check_appends(appends: AppendsLog, checkpoint: Checkpoint) -> None:
    partition, (position, digest) = checkpoint.partition, checkpoint.input
    bounds = await appends.bounds(partition)
    if not bounds.start <= position <= bounds.end:
        raise IntegrityError(
            f"appends, partition {partition}: position {position} is next, but the log holds "
            f"{bounds.start} to {bounds.end}: it was trimmed, replaced or shortened"
        )
    if digest and position > bounds.start:
        before = await appends.read_one(partition, Position(position - 1))
        if before is None or input_digest(before) != digest:
            raise IntegrityError(
                f"appends, partition {partition}: the request before position {position} is not "
                "the one that was sequenced: the log was replaced"
            )


async def _fits(events: EventsLog, checkpoint: Checkpoint) -> bool:
    """Whether the canonical log still holds what the checkpoint was saved over."""
    partition, (position, digest) = checkpoint.partition, checkpoint.output
    bounds = await events.bounds(partition)
    if not bounds.start <= position <= bounds.end:
        return False
    if digest == _REBUILDING:
        return False
    if not digest or position == bounds.start:
        return True
    before = await events.read_one(partition, Position(position - 1))
    return before is not None and record_digest(before.record) == digest


async def _rebuilt(
    checkpoint: Checkpoint, appends: AppendsLog, events: EventsLog, heads: Heads
) -> Checkpoint:
    """Drop the saved heads, build them again from the canonical log, and save them."""
    partition = checkpoint.partition
    bounds = await events.bounds(partition)
    if bounds.start > 0:
        raise IntegrityError(
            f"events, partition {partition}: the log starts at {bounds.start}, so heads cannot be "
            "built from it"
        )
    _LOG.warning("heads_rebuilt_from_log", partition=partition, records=bounds.end)
    rebuild = Rebuild(partition, bounds.start)
    async with aclosing(events.read(partition, bounds)) as log_in_parts:
        async for some in log_in_parts:
            for stored in some:
                rebuild.add(stored)
    await heads.drop(checkpoint, _REBUILDING)
    last = await appends.read_one(partition, Position(rebuild.next_input - 1))
    after = checkpoint._replace(
        input=Place(rebuild.next_input, b"" if last is None else input_digest(last)),
        output=Place(
            rebuild.next_output,
            b"" if rebuild.last is None else record_digest(rebuild.last.record),
        ),
    )
    await _check_appends(appends, after)
    found = list(rebuild.heads.items())
    # The checkpoint moves with the last heads only: a crash in between begins again.
    start = checkpoint._replace(output=Place(Position(0), _REBUILDING))
    for at in range(0, len(found), _HEADS_AT_ONCE):
        await heads.save([(start, dict(found[at : at + _HEADS_AT_ONCE]))])
    await heads.save([(after, {})])
    return after
