"""`dead`: requests that were refused for good, as they came, and sending them again."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import typer

from agentjournal.settings import Settings, find_settings
from commands.dead_letters import DeadLetter, distinct
from commands.kafka_topic import KafkaTopic, last_spans
from commands.printing import Column, print_json_array, print_rows, say
from commands.redriving import Redriven, chosen, redriven
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
_REDRIVEN = (
    Column("stream"),
    Column("refused for", short=True),
    Column("partition", "right", short=True),
    Column("position", "right", short=True),
    Column("outcome", short=True),
    Column("versions", short=True),
    Column("why"),
)


@commands.command()
def dead(
    named: Annotated[
        list[str] | None,
        typer.Argument(metavar="[STREAM|PARTITION:POSITION]…", help="Those to send again."),
    ] = None,
    *,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many at most.")] = 50,
    conflicts: Annotated[
        bool, typer.Option("--conflicts", help="Those too that only lost a race.")
    ] = False,
    redrive: Annotated[
        bool, typer.Option("--redrive", help="Append them again, all or those that are named.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before that.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON array; the request is in base64.")
    ] = False,
) -> None:
    """List refused requests, the latest first; or append them again, as the bytes they were.

    `at` names the place in the request, `partition` and `position` its place in the topic appends.
    With --redrive, those that lost a race or whose stream is deleted must be named by their place.
    """
    if redrive:
        _redrive(named or [], yes=yes, as_json=as_json)
        return
    if named or yes:
        raise typer.BadParameter("names and --yes go with --redrive")
    letters = wait_for(_latest(limit, conflicts=conflicts))
    if as_json:
        print_json_array(map(_json, letters))
    else:
        print_rows(_COLUMNS, _rows(letters))


def _redrive(named: Sequence[str], *, yes: bool, as_json: bool) -> None:
    settings = find_settings()
    due, left_out = chosen(wait_for(_all(settings)), named)
    if left_out:
        say(f"{len(left_out)} that lost a race or whose stream is deleted are left out: name them")
    for each in due:
        why = " ".join(filter(None, (each.reason, each.path, each.text)))
        say(f"{each.partition}:{each.position} {each.stream}: {why}")
    if due and not yes:
        typer.confirm(f"append {len(due)} again?", abort=True, err=True)
    done = wait_for(redriven(settings, due)) if due else []
    if as_json:
        print_json_array(each._asdict() for each in done)
    else:
        print_rows(_REDRIVEN, map(_redriven_row, done))
    say(f"{sum(each.outcome == 'accepted' for each in done)} of {len(due)} were accepted")
    if any(each.outcome == "refused" for each in done):
        raise typer.Exit(1)


def _redriven_row(done: Redriven) -> list[str]:
    versions = "" if done.first_version is None else f"{done.first_version} to {done.last_version}"
    place = [str(done.partition), str(done.position)]
    return [done.stream or "-", done.reason, *place, done.outcome, versions or "-", done.why or "-"]


async def _all(settings: Settings) -> list[DeadLetter]:
    async with KafkaTopic(settings, settings.dead) as topic:
        return distinct([record async for record in topic.read(await topic.bounds())])


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
