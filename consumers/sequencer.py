"""The sequencer: a thin shell around the fold that keeps one batch a partition on its way.

It polls while the last batch waits for its ack, hands the next over only then, and releases answers
in order, after the ack. Whatever it cannot be sure of it drops, and takes the partition anew.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from agentjournal.ids import Partition
from consumers.metrics_sequencer import SequencerMetrics
from consumers.ownership import Courtesy, Membership, share_of
from consumers.takeover import Owned, take_over
from consumers.tracing import Traces, untraced
from streams.decide import Input
from streams.partition_fold import Step
from streams.ports import (
    Answers,
    AppendsLog,
    EmissionUnknownError,
    EventsLog,
    Heads,
    OutageError,
    OwnershipLostError,
)
from streams.rules import Rules

_LOG = structlog.get_logger()

FAULT_POINTS = (  # where a test may cut the power, in the order of the loop
    "taken",
    "polled",
    "loaded",
    "folded",
    "dead_written",
    "written",
    "acknowledged",
    "answered",
    "saved",
    "evicted",
)


@dataclass(frozen=True, slots=True)
class SequencerOptions:
    """How the shell paces itself; nothing here changes a decision."""

    save_every_s: float = 1.0
    save_every_appends: int = 5_000
    most_heads: int = 20_000  # in memory, over all partitions of this process
    fold_again: int = 500  # records at the end of a partition's log, when it is taken over
    poll_s: float = 0.1
    heartbeat_s: float = 1.0
    outage_pause_s: float = 0.5


@dataclass(frozen=True, slots=True)
class SequencerPorts:
    """What the shell reads and writes."""

    appends: AppendsLog
    events: EventsLog
    heads: Heads
    answers: Answers
    membership: Membership
    traces: Traces[Input, Mapping[Partition, Step]] = untraced
    seen: SequencerMetrics = field(default_factory=SequencerMetrics)


class Sequencer:
    """Sequences the partitions that are this member's share, until it is stopped."""

    def __init__(
        self,
        ports: SequencerPorts,
        rules: Rules,
        options: SequencerOptions | None = None,
        fault: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._ports, self._rules = ports, rules
        self._options = options or SequencerOptions()
        self._fault = fault
        self._owned: dict[Partition, Owned] = {}
        self._courtesy = Courtesy(ports.membership.member)
        self._alive: list[str] = []
        self._emitting: asyncio.Task[None] | None = None
        self._saving: asyncio.Task[None] | None = None
        self._last_save = self._last_heartbeat = 0.0
        self._appends_since_save = 0
        self.ready = asyncio.Event()  # set once this member owns all of its share
        ports.seen.watch.unsaved = self.unsaved
        ports.seen.watch.sampled(lambda: ports.seen.sample(self._owned))

    @property
    def owned(self) -> set[Partition]:
        return set(self._owned)

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; then finish what is on its way, save, and release.

        Raises IntegrityError when the log is not what it must be: nothing is skipped.
        """
        while not stop.is_set():
            try:
                await self._turn()
            except (OutageError, EmissionUnknownError, OwnershipLostError) as trouble:
                await self._start_over(trouble, stop)
        try:
            await self._finish()
        except (OutageError, EmissionUnknownError, OwnershipLostError) as trouble:
            _LOG.warning("stopped_unsaved", reason=str(trouble), **self.unsaved())

    def unsaved(self) -> Mapping[str, object]:
        """Return what the next owner reads and decides again: the log has it all."""
        owned = self._owned.values()
        return {
            "partitions": sorted(self._owned),
            "heads": sum(len(each.unsaved) for each in owned),
            "batches": sum(len(each.unacknowledged) for each in owned),
        }

    async def _turn(self) -> None:
        await self._follow_membership()
        if not self._owned:
            await asyncio.sleep(self._options.poll_s)
            return
        polled = await self._ports.appends.poll(timeout_s=self._options.poll_s)
        read_s = time.monotonic()
        self._fault("polled")
        finishing = self._ports.traces(polled)
        steps = await self._fold(polled)
        if self._emitting is not None and (steps or self._emitting.done()):
            await self._emitting
            self._emitting = None
        if steps:
            self._ports.seen.read_s = read_s
            self._emitting = asyncio.create_task(finishing(steps, self._emit))
        await self._save_when_due()

    async def _fold(self, polled: Mapping[Partition, Sequence[Input]]) -> dict[Partition, Step]:
        steps: dict[Partition, Step] = {}
        for partition, inputs in polled.items():
            owned = self._owned.get(partition)
            if owned is None:
                continue
            # Loading lets a save finish, and that may evict: look again until all are there.
            while missing := owned.fold.missing(inputs):
                owned.fold.put(await self._ports.heads.load(owned.checkpoint, sorted(missing)))
                self._fault("loaded")
            step = steps[partition] = owned.fold.step(inputs)
            owned.unacknowledged.append(step)
            self._appends_since_save += len(inputs)
            await asyncio.sleep(0)  # let the last batch's ack and answers through
        self._fault("folded")
        return steps

    async def _emit(self, steps: Mapping[Partition, Step]) -> None:
        events = self._ports.events
        # Dead letters first: none may be behind the record of a later request.
        dead = [(p, given, why) for p, step in steps.items() for given, why in step.dead]
        if dead:
            await events.write_dead(dead)
            self._fault("dead_written")
        records = {p: step.records for p, step in steps.items() if step.records}
        last = await events.write(records) if records else {}
        self._fault("written")
        for partition, step in steps.items():
            if (owned := self._owned.get(partition)) is not None:
                owned.acknowledge(step, last.get(partition))
        self._fault("acknowledged")
        await self._ports.answers.send([a for step in steps.values() for a in step.answers])
        self._ports.seen.answered(steps)
        self._fault("answered")

    async def _save_when_due(self) -> None:
        if self._saving is not None and self._saving.done():
            await self._saving
            self._saving = None
        due = (
            time.monotonic() - self._last_save > self._options.save_every_s
            or self._appends_since_save > self._options.save_every_appends
        )
        if due and self._saving is None:
            self._last_save, self._appends_since_save = time.monotonic(), 0
            self._saving = asyncio.create_task(self._save())

    async def _save(self) -> None:
        owned = [o for o in self._owned.values() if o.dirty]
        if not owned:
            return
        saves = [(o.checkpoint, dict(o.unsaved)) for o in owned]
        for each in owned:
            each.dirty = False
        lost = await self._ports.heads.save(saves)
        self._fault("saved")
        if lost:
            raise OwnershipLostError(f"partitions {sorted(lost)} have another owner")
        for each, (_, saved) in zip(owned, saves, strict=True):
            for stream, head in saved.items():
                if each.unsaved.get(stream) is head:
                    del each.unsaved[stream]
            each.evict(self._options.most_heads // max(1, len(self._owned)))
        self._fault("evicted")

    async def _follow_membership(self) -> None:
        now = time.monotonic()
        if now - self._last_heartbeat < self._options.heartbeat_s:
            return
        self._last_heartbeat = now
        membership = self._ports.membership
        self._alive = await membership.heartbeat()
        share = share_of(membership.member, self._alive, self._rules.partitions)
        changed = False
        if surplus := set(self._owned) - share:
            await self._give_back(surplus)
            changed = True
        if missing := share - set(self._owned):
            owners = await self._ports.heads.owners()
            free = sorted(self._courtesy.may_take(missing, owners, self._alive, now))
            # Side by side, since most of it is waiting; all come to an end before any error counts.
            taken = await asyncio.gather(*map(self._take, free), return_exceptions=True)
            for error in filter(None, taken):
                raise error
            changed = changed or bool(free)
        if changed:
            # What was polled and not folded is read again: positions are those of the folds.
            self._ports.appends.assign({p: o.fold.next_input for p, o in self._owned.items()})
        if set(self._owned) == share:
            self.ready.set()
            self._ports.seen.watch.works_on(len(share))
        else:
            self._ports.seen.watch.health.waits("partitions that are not taken yet")

    async def _take(self, partition: Partition) -> None:
        logs = (self._ports.appends, self._ports.events)
        self._owned[partition] = await take_over(
            partition,
            self._ports.membership.member,
            rules=self._rules,
            logs=logs,
            heads=self._ports.heads,
            fold_again=self._options.fold_again,
        )
        self._fault("taken")

    async def _give_back(self, surplus: set[Partition]) -> None:
        await self._settle()
        for partition in surplus:
            await self._ports.heads.release(self._owned.pop(partition).checkpoint)
        _LOG.info("partitions_given_back", partitions=sorted(surplus))

    async def _settle(self) -> None:
        """Wait for what is on its way, and save everything."""
        for task in (self._emitting, self._saving):
            if task is not None:
                await task
        self._emitting = self._saving = None
        await self._save()

    async def _finish(self) -> None:
        await self._settle()
        for owned in self._owned.values():
            await self._ports.heads.release(owned.checkpoint)
        await self._ports.membership.leave()
        self._owned.clear()

    async def _start_over(self, trouble: Exception, stop: asyncio.Event) -> None:
        """Drop what is not acknowledged; the next turns take the partitions anew."""
        _LOG.warning("starting_over", reason=str(trouble), kind=type(trouble).__name__)
        self.ready.clear()
        self._ports.seen.starts_over(trouble)
        self._owned.clear()
        self._ports.appends.assign({})
        for task in (self._emitting, self._saving):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        self._emitting = self._saving = None
        self._last_heartbeat = 0.0
        while not stop.is_set():
            await asyncio.sleep(self._options.outage_pause_s)
            try:
                await self._ports.events.renew_producer()
            except EmissionUnknownError as error:
                _LOG.warning("broker_away", reason=str(error))
            else:
                return
