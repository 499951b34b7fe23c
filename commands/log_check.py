"""Checking one partition of the canonical log, record by record.

What is kept grows with the number of streams, never with the length of the log.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import orjson

from agentjournal.envelope import NO_HASH, Recorded, parse_record
from agentjournal.errors import IntegrityError
from agentjournal.ids import Partition, Position
from agentjournal.partitions import partition_of
from commands.kafka_topic import TopicRecord
from commands.row_digest import row_digest

Order: TypeAlias = tuple[int, int]

_BEFORE_ALL: Order = (-1, -1)
_TOO_LATE = "it comes after records of later requests"
_RECENT = 10_000  # first occurrences whose hashes are kept; older ones are looked up again


class Problem(NamedTuple):
    """Something that is not as it must be, and where."""

    stream: str
    version: int  # 0: not known
    partition: int
    position: int
    text: str


class Expected(NamedTuple):
    """What the table of events must hold of a stream."""

    partition: Partition
    versions: tuple[int, int]  # the first and the last
    rows: int
    digest: bytes  # over them


@dataclass(slots=True)
class _Checked:
    """How far a stream is checked."""

    version: int
    hash: str
    first_version: int
    rows: int = 0  # of events before the place that the read model had reached
    last_version: int = 0  # of these
    digest: Any = field(default_factory=hashlib.sha256)


class _Repeat(NamedTuple):
    """A record that came before, too long ago to know its bytes."""

    hash: str
    problem: Problem  # if its bytes were others


class PartitionCheck:
    """Takes the records of a partition in order; what is wrong is in what it yields."""

    def __init__(self, partition: Partition, start: Position, projected: Position) -> None:
        """`projected` is the next position that the read model had to read."""
        self.events = self.repeats = self.behind = 0
        self._partition, self._start, self._projected = partition, start, projected
        self._streams: dict[str, _Checked] = {}
        self._order = self._settled = _BEFORE_ALL
        self._last: Recorded | None = None  # None also when it is not known
        self._distant: dict[Order, list[_Repeat]] = {}
        self._recent: OrderedDict[Order, str] = OrderedDict()

    @property
    def is_unfinished(self) -> bool:
        """Whether the last batch is there in part only; a sequencer will finish it."""
        return self._last is not None and self._last.batch_index + 1 < self._last.batch_size

    @property
    def must_settle(self) -> bool:
        """Whether the log is to be read again, through `settle`."""
        return bool(self._distant)

    def expected(self) -> dict[str, Expected]:
        """Return what the table of events must hold, by stream; nothing may be added after it."""
        return {
            stream: Expected(
                self._partition,
                (checked.first_version, checked.last_version),
                checked.rows,
                checked.digest.digest() if checked.rows else b"",
            )
            for stream, checked in self._streams.items()
        }

    def add(self, record: TopicRecord) -> Iterator[Problem]:
        """Take the next record; yield what is wrong with it."""
        try:
            recorded = parse_record(record.value, self._partition, record.position)
        except IntegrityError as error:
            yield from self._broken(record, error)
            return
        if recorded.stream.encode("utf-8", "surrogatepass") != record.key:
            yield _problem(recorded, "the record's key is another stream")
        if recorded.order <= self._order:
            yield from self._repeat(recorded)
            return
        if partition_of(recorded.stream.encode("utf-8", "surrogatepass")) != self._partition:
            yield _problem(recorded, "the stream belongs into another partition")
        yield from self._batch(recorded)
        yield from self._chain(recorded)
        self._remember(recorded)

    def settle(self, record: TopicRecord) -> Iterator[Problem]:
        """Take a record again, from the start on; yield the distant repeats that differ from it."""
        try:
            recorded = parse_record(record.value, self._partition, record.position)
        except IntegrityError:
            return
        if recorded.order <= self._settled:
            return
        self._settled = recorded.order
        for repeat in self._distant.pop(recorded.order, ()):
            if repeat.hash != recorded.hash:
                yield repeat.problem

    def unsettled(self) -> Iterator[Problem]:
        """Yield the distant repeats that `settle` met no first record of."""
        for repeats in self._distant.values():
            for repeat in repeats:
                yield repeat.problem._replace(text=_TOO_LATE)

    def _broken(self, record: TopicRecord, error: IntegrityError) -> Iterator[Problem]:
        salvaged = _salvaged(record)
        if salvaged is None:
            stream = record.key.decode("utf-8", "backslashreplace")
            yield Problem(stream, 0, self._partition, record.position, "not a record of ours")
            return
        stream, version, claimed_hash = salvaged
        text = "the hash is not that of the record's bytes"
        if "hash" not in str(error):
            text = "not a record of ours"
        yield Problem(stream, version, self._partition, record.position, text)
        # What follows chained to the record as it was: report this one, not all after it.
        checked = self._streams.get(stream)
        if checked is not None and version == checked.version + 1:
            checked.version, checked.hash = version, claimed_hash
        self._last = None

    def _repeat(self, recorded: Recorded) -> Iterator[Problem]:
        self.repeats += 1
        known = self._recent.get(recorded.order)
        differs = _problem(recorded, "it comes again with other bytes")
        if known is not None:
            if known != recorded.hash:
                yield differs
        elif self._recent and recorded.order > next(iter(self._recent)):
            yield differs._replace(text=_TOO_LATE)
        else:
            self._distant.setdefault(recorded.order, []).append(_Repeat(recorded.hash, differs))

    def _batch(self, recorded: Recorded) -> Iterator[Problem]:
        last = self._last
        goes_on = (
            last is not None
            and last.batch_index + 1 < last.batch_size
            and recorded.order == (last.input_position, last.batch_index + 1)
        )
        if goes_on and last is not None:
            if (last.stream, last.append_id, last.batch_size) != (
                recorded.stream,
                recorded.append_id,
                recorded.batch_size,
            ):
                yield _problem(recorded, "its batch is of another append")
            return
        if last is not None and last.batch_index + 1 < last.batch_size:
            text = f"its batch ends here, with {last.batch_index + 1} of {last.batch_size} events"
            yield _problem(last, text)
        if recorded.batch_index and last is not None:
            yield _problem(recorded, f"the {recorded.batch_index} events before it are missing")

    def _chain(self, recorded: Recorded) -> Iterator[Problem]:
        checked = self._streams.get(recorded.stream)
        if checked is None:
            checked = _Checked(0, NO_HASH, recorded.version)
            if self._start:  # the log was trimmed: what was before is not known
                checked.version, checked.hash = recorded.version - 1, recorded.prevhash
            self._streams[recorded.stream] = checked
        if recorded.version != checked.version + 1:
            yield _problem(recorded, f"it follows version {checked.version}")
        elif recorded.prevhash != checked.hash:
            yield _problem(recorded, f"it is not chained to version {checked.version} before it")
        checked.version, checked.hash = recorded.version, recorded.hash
        if recorded.position < self._projected:
            checked.rows += 1
            checked.last_version = recorded.version
            checked.digest.update(row_digest(recorded))
        else:
            self.behind += 1

    def _remember(self, recorded: Recorded) -> None:
        self.events += 1
        self._order, self._last = recorded.order, recorded._replace(raw_data=b"")
        self._recent[recorded.order] = recorded.hash
        if len(self._recent) > _RECENT:
            self._recent.popitem(last=False)


def _salvaged(record: TopicRecord) -> tuple[str, int, str] | None:
    """Return (stream, version, hash as written) of a record whose hash is wrong."""
    try:
        attributes = orjson.loads(record.value[: record.value.find(b',"data":')] + b"}")
        return str(attributes["subject"]), int(attributes["version"]), record.value[-66:-2].decode()
    except (KeyError, TypeError, ValueError):
        return None


def _problem(recorded: Recorded, text: str) -> Problem:
    return Problem(recorded.stream, recorded.version, recorded.partition, recorded.position, text)
