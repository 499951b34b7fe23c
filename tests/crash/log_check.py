"""The whole truth about a log after a crash: read back, and folded again from scratch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from agentjournal.envelope import Recorded, parse_record
from agentjournal.ids import Partition, Position
from agentjournal.partitions import PARTITIONS
from agentjournal.settings import Settings
from consumers.kafka_appends import KafkaAppends
from consumers.kafka_events import KafkaEvents
from streams.decide import Input
from streams.partition_fold import PartitionFold, Stored, first_occurrences
from streams.ports import Bounds
from streams.rules import rules_1
from tests.crash.writers import Writer


async def read_events(settings: Settings) -> Mapping[Partition, Sequence[Stored]]:
    """Return all canonical records, repeats dropped."""
    found: dict[Partition, Sequence[Stored]] = {}
    async with KafkaEvents(settings) as events:
        for partition in map(Partition, range(PARTITIONS)):
            bounds = await events.bounds(partition)
            stored = [each async for some in events.read(partition, bounds) for each in some]
            found[partition] = list(first_occurrences(stored, (-1, -1)))
    return found


async def read_appends(settings: Settings) -> Mapping[Partition, Sequence[Input]]:
    """Return all requests."""
    found: dict[Partition, Sequence[Input]] = {}
    async with KafkaAppends(settings) as appends:
        for partition in map(Partition, range(PARTITIONS)):
            bounds: Bounds = await appends.bounds(partition)
            appends.assign({partition: bounds.start})
            read: list[Input] = []
            while len(read) < bounds.end - bounds.start:
                polled = await appends.poll(timeout_s=0.2)
                read.extend(polled.get(partition, ()))
            found[partition] = read
    return found


async def check_log(settings: Settings, writers: Iterable[Writer]) -> int:
    """Check everything that holds whoever died; return how many events the log has.

    The log, repeats dropped, is the fold of the requests byte for byte; versions are 1..n and the
    chain verifies; every acknowledged append is there once, where its receipt says, and each
    writer's appends are in the order that it made them.
    """
    events, appends = await read_events(settings), await read_appends(settings)
    for partition, requests in appends.items():
        fold = PartitionFold(rules_1(), partition, Position(0))
        fold.put(dict.fromkeys(fold.missing(requests)))
        folded = [record for _, record in fold.step(requests).records]
        assert [stored.record for stored in events[partition]] == folded
    streams = _streams(events)
    for recorded in streams.values():
        assert [r.version for r in recorded] == list(range(1, len(recorded) + 1))
        for before, after in pairwise(recorded):
            assert after.prevhash == before.hash
    for writer in writers:
        _check_writer(writer, streams)
    return sum(map(len, streams.values()))


def _streams(events: Mapping[Partition, Sequence[Stored]]) -> Mapping[str, list[Recorded]]:
    streams: defaultdict[str, list[Recorded]] = defaultdict(list)
    for partition, records in events.items():
        for stored in records:
            recorded = parse_record(stored.record, partition, stored.position)
            streams[recorded.stream].append(recorded)
    return streams


def _check_writer(writer: Writer, streams: Mapping[str, list[Recorded]]) -> None:
    places: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for number in range(writer.sessions):
        stream = f"session/default/{writer.name}-{number}"
        written = [_text(r) for r in streams.get(stream, ()) if r.type == "message.added"]
        numbers = [int(text.partition(":")[2]) for text in written]
        assert numbers == sorted(set(numbers)), f"{stream}: out of order or twice"
        for recorded in streams.get(stream, ()):
            if recorded.type == "message.added":
                places[_text(recorded)].append((recorded.stream, recorded.version))
    for text, receipt in writer.acknowledged:
        assert places[text] == [(receipt.stream, receipt.first_version)]


def _text(recorded: Recorded) -> str:
    text: str = recorded.data["parts"][0]["text"]
    return text
