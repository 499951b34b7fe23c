"""`dead`: requests that were refused for good, as they came."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from agentjournal.envelope import iso_time
from agentjournal.settings import find_settings
from commands.kafka_topic import KafkaTopic, TopicRecord, last_spans
from commands.printing import Column, print_json_array, print_rows
from commands.times import date_and_clock
from commands.waiting import wait_for

commands = typer.Typer()

_COLUMNS = (
    Column("time", short=True),
    Column("stream"),
    Column("reason"),
    Column("at"),
    Column("text"),
    Column("partition", "right", short=True),
    Column("position", "right", short=True),
    Column("bytes", "right", short=True, optional=True),
)


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
    request: bytes


@commands.command()
def dead(
    *,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many at most.")] = 50,
    conflicts: Annotated[
        bool, typer.Option("--conflicts", help="Those too that only lost a race.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON array; the request is in base64.")
    ] = False,
) -> None:
    """List refused requests, the latest first.

    `at` names the place in the request, `partition` and `position` its place in the topic appends.
    """
    letters = wait_for(_latest(limit, conflicts=conflicts))
    if as_json:
        print_json_array(map(_json, letters))
    else:
        print_rows(_COLUMNS, _rows(letters))


async def _latest(limit: int, *, conflicts: bool) -> list[DeadLetter]:
    settings = find_settings()
    async with KafkaTopic(settings, settings.dead) as topic:
        bounds = await topic.bounds()
        held = max(span.end - span.start for span in bounds.values())
        back = 2 * limit
        while True:
            records = [record async for record in topic.read(last_spans(bounds, back))]
            letters = [each for each in distinct(records) if conflicts or each.reason != "conflict"]
            if len(letters) >= limit or back >= held:
                return letters[-limit:][::-1]
            back *= 4


def distinct(records: Iterable[TopicRecord]) -> list[DeadLetter]:
    """Return each request once: a sequencer that takes over may write a letter again."""
    letters: dict[tuple[int, int], DeadLetter] = {}
    for record in records:
        letter = _letter(record)
        letters.setdefault((letter.partition, letter.position), letter)
    return list(letters.values())


def _letter(record: TopicRecord) -> DeadLetter:
    words = {name: value.decode("utf-8", "replace") for name, value in record.headers.items()}
    partition, position = words.get("partition", ""), words.get("position", "")
    return DeadLetter(
        refused_at=iso_time(record.timestamp_ms),
        stream=record.key.decode("utf-8", "backslashreplace"),
        reason=words.get("reason", ""),
        path=words.get("path", ""),
        text=words.get("text", ""),
        partition=int(partition) if partition.isdecimal() else -1,
        # A letter that is not ours is told from others by its own place.
        position=int(position) if position.isdecimal() else record.position,
        request=record.value,
    )


def _rows(letters: Iterable[DeadLetter]) -> Iterator[list[str]]:
    for letter in letters:
        yield [
            date_and_clock(letter.refused_at),
            letter.stream or "-",
            letter.reason or "-",
            letter.path or "-",
            letter.text or "-",
            str(letter.partition),
            str(letter.position),
            str(len(letter.request)),
        ]


def _json(letter: DeadLetter) -> dict[str, Any]:
    return {
        "refused_at": letter.refused_at,
        "stream": letter.stream,
        "reason": letter.reason,
        "path": letter.path,
        "text": letter.text,
        "partition": letter.partition,
        "position": letter.position,
        "bytes": len(letter.request),
        "request": base64.b64encode(letter.request).decode(),
    }
