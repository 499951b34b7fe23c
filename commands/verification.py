"""Walking the canonical log, then comparing the table of events with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from agentjournal.envelope import Recorded, parse_record
from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position, StreamId
from agentjournal.partitions import partition_of
from commands.errors import CommandFailed
from commands.kafka_topic import KafkaTopic, TopicRecord
from commands.log_check import Expected, PartitionCheck, Problem
from commands.postgres_stored import Digest, StoredEvents
from commands.row_digest import other_columns
from streams.ports import Bounds

Advance: TypeAlias = Callable[[int, int], None]  # records read, records to read

_AT_A_TIME = 500


@dataclass(slots=True)
class Tally:
    """What was looked at; `behind` counts events that the table does not have to hold yet."""

    events: int = 0
    streams: int = 0
    partitions: int = 0
    repeats: int = 0
    behind: int = 0
    parked: int = 0
    unfinished: int = 0  # batches whose end is still to come


@dataclass(slots=True)
class Verification:
    """One run of `verify`: over one stream, or over all."""

    topic: KafkaTopic
    stored: StoredEvents
    advance: Advance
    stream: StreamId | None = None
    tally: Tally = field(default_factory=Tally)
    _expected: dict[str, Expected] = field(default_factory=dict[str, Expected])
    _spans: dict[Partition, Bounds] = field(default_factory=dict[Partition, Bounds])
    _read: int = 0
    _to_read: int = 0

    async def run(self) -> AsyncIterator[Problem]:
        """Yield problems as they are found; what was looked at stands in `tally` afterwards."""
        # The places first: a row before them is there, whatever is written while the log is read.
        places = await self.stored.places()
        bounds = await self.topic.bounds()
        if self.stream is not None:
            partition = partition_of(self.stream.encode())
            bounds = {partition: bounds[partition]}
        self._to_read = sum(span.end - span.start for span in bounds.values())
        for partition, span in bounds.items():
            async for problem in self._walk(partition, span, places.get(partition, Position(0))):
                yield problem
        self.tally.streams, self.tally.partitions = len(self._expected), len(bounds)
        if self.stream is not None and not self._expected:
            raise CommandFailed(f"the log has no stream {self.stream}")
        async for problem in self._compare(bounds):
            yield problem

    async def _walk(
        self, partition: Partition, span: Bounds, place: Position
    ) -> AsyncIterator[Problem]:
        if place > span.end:
            text = f"the table was read up to here, but the log ends at {span.end}"
            yield Problem("-", 0, partition, place, text)
        self._spans[partition] = Bounds(span.start, min(place, span.end))
        check = PartitionCheck(partition, span.start, place)
        async for record in self._records(partition, span):
            for problem in check.add(record):
                yield problem
        if check.must_settle:
            async for record in self._records(partition, span):
                for problem in check.settle(record):
                    yield problem
            for problem in check.unsettled():
                yield problem
        self._expected.update(check.expected())
        self.tally.events += check.events
        self.tally.repeats += check.repeats
        self.tally.behind += check.behind
        self.tally.unfinished += check.is_unfinished

    async def _records(self, partition: Partition, span: Bounds) -> AsyncIterator[TopicRecord]:
        wanted = None if self.stream is None else self.stream.encode()
        async for record in self.topic.read({partition: span}):
            self._read += 1
            self.advance(self._read, self._to_read)
            if wanted is None or record.key == wanted:
                yield record

    async def _compare(self, bounds: Mapping[Partition, Bounds]) -> AsyncIterator[Problem]:
        parked = await self.stored.parked()
        self.tally.parked = len(parked if self.stream is None else parked & {self.stream})
        differing: set[str] = set()
        seen: set[str] = set()
        async for streams in self._pages():
            seen.update(streams)
            for found in await self.stored.digests(streams, self._spans):
                if found.stream in parked:
                    continue
                for problem in self._judge(found):
                    yield problem
                if found.compared and self._differs(found):
                    differing.add(found.stream)
        for stream, expected in self._expected.items():
            if expected.rows and stream not in seen and stream not in parked:
                yield _none(stream, expected)
        for partition, span in bounds.items():
            mine = {s for s in differing if self._expected[s].partition == partition}
            async for problem in self._rows(mine, partition, span):
                yield problem

    async def _pages(self) -> AsyncIterator[list[str]]:
        if self.stream is not None:
            yield [self.stream]
            return
        async for streams in self.stored.streams():
            yield streams

    def _differs(self, found: Digest) -> bool:
        expected = self._expected.get(found.stream)
        if expected is None:
            return False
        return (found.compared, found.digest) != (expected.rows, expected.digest)

    def _judge(self, found: Digest) -> list[Problem]:
        expected = self._expected.get(found.stream)
        partition = partition_of(found.stream.encode()) if expected is None else expected.partition
        if expected is not None and expected.rows and not found.compared:
            return [_none(found.stream, expected)]
        texts: list[str] = []
        if expected is None and found.compared:
            texts.append(f"agentjournal.events has {found.compared} rows, and the log none of it")
        if found.beyond:
            texts.append(f"agentjournal.events has {found.beyond} rows that no projector wrote")
        if not found.head_fits:
            texts.append("agentjournal.streams does not have the stream's last event")
        return [Problem(found.stream, 0, partition, -1, text) for text in texts]

    async def _rows(
        self, streams: set[str], partition: Partition, span: Bounds
    ) -> AsyncIterator[Problem]:
        """Yield what is wrong with the rows of streams whose digests differ."""
        if not streams:
            return
        page: list[Recorded] = []
        named: set[str] = set()
        async for recorded in self._first_occurrences(partition, span):
            if recorded.stream in streams and recorded.position < self._spans[partition].end:
                page.append(recorded)
            if len(page) == _AT_A_TIME:
                for problem in await self._page(page):
                    named.add(problem.stream)
                    yield problem
                page = []
        for problem in await self._page(page):
            named.add(problem.stream)
            yield problem
        for stream in sorted(streams):
            versions = self._expected[stream].versions
            for row in await self.stored.beside(stream, versions, self._spans[partition]):
                named.add(stream)
                text = "agentjournal.events has this row, and the log has no such event"
                yield Problem(stream, row["version"], row["partition"], row["position"], text)
        for stream in sorted(streams - named):
            text = "agentjournal.events differs from the log"
            yield Problem(stream, 0, partition, -1, text)

    async def _page(self, page: Sequence[Recorded]) -> list[Problem]:
        stored = await self.stored.rows([(each.stream, each.version) for each in page])
        problems: list[Problem] = []
        for each in page:
            row = stored.get((each.stream, each.version))
            if row is None:
                text = "agentjournal.events has no such row"
            elif others := other_columns(each, row):
                text = f"agentjournal.events has another {', '.join(others)}"
            else:
                continue
            problems.append(Problem(each.stream, each.version, each.partition, each.position, text))
        return problems

    async def _first_occurrences(
        self, partition: Partition, span: Bounds
    ) -> AsyncIterator[Recorded]:
        order = (-1, -1)
        async for record in self._records(partition, span):
            try:
                recorded = parse_record(record.value, partition, record.position)
            except IntegrityError:
                continue  # told already
            if recorded.order > order:
                order = recorded.order
                yield recorded


def _none(stream: str, expected: Expected) -> Problem:
    text = f"agentjournal.events has none of its {expected.rows:,} rows"
    return Problem(stream, expected.versions[0], expected.partition, -1, text)
