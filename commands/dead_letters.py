"""Refused requests as they stand in the topic `dead`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agentjournal.envelope import iso_time
from agentjournal.ids import Partition
from commands.kafka_topic import KafkaTopic, TopicRecord
from streams.ports import Bounds

_MOST_DIGITS = 19  # of a position


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A refused request: where it was asked for, why it was refused, and its bytes."""

    refused_at: str
    stream: str  # the key as it came
    reason: str
    path: str
    text: str
    partition: int  # with `position` its place in the topic `appends`
    position: int
    key: bytes
    request: bytes
    expected_version: str = ""  # of a lost race, as is
    actual_version: str = ""


def distinct(records: Iterable[TopicRecord]) -> list[DeadLetter]:
    """Return each request once: a sequencer that takes over may write a letter again."""
    letters: dict[tuple[int, int], DeadLetter] = {}
    for record in records:
        letter = letter_of(record)
        letters.setdefault((letter.partition, letter.position), letter)
    return list(letters.values())


def letter_of(record: TopicRecord) -> DeadLetter:
    """Return what a record of the topic holds."""
    words = {name: value.decode("utf-8", "replace") for name, value in record.headers.items()}
    partition, position = _number(words.get("partition")), _number(words.get("position"))
    return DeadLetter(
        refused_at=iso_time(record.timestamp_ms),
        stream=record.key.decode("utf-8", "backslashreplace"),
        reason=words.get("reason", ""),
        path=words.get("path", ""),
        text=words.get("text", ""),
        partition=-1 if partition is None else partition,
        # A letter that is not ours is told from others by its own place.
        position=record.position if position is None else position,
        key=record.key,
        request=record.value,
        expected_version=words.get("expected_version", ""),
        actual_version=words.get("actual_version", ""),
    )


def _number(text: str | None) -> int | None:
    # Python refuses to convert very long ones.
    if text is None or not text.isdecimal() or len(text) > _MOST_DIGITS:
        return None
    return int(text)


async def letters_since(topic: KafkaTopic, before: Mapping[Partition, Bounds]) -> list[DeadLetter]:
    """Return each request that was refused since the topic ended where it ended `before`, once."""
    now = await topic.bounds()
    spans = {p: Bounds(max(before[p].end, span.start), span.end) for p, span in now.items()}
    return distinct([record async for record in topic.read(spans)])
