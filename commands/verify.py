"""`verify`: the canonical log, and the table of events against it."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from agentjournal.settings import find_settings
from commands.harmless import one_line
from commands.kafka_topic import KafkaTopic
from commands.log_check import Problem
from commands.naming import stream_named
from commands.postgres_stored import stored_events
from commands.printing import print_json_line, print_line, say
from commands.verification import Advance, Tally, Verification
from commands.waiting import wait_for

commands = typer.Typer()

_MOST_LISTED = 1_000  # problems in the JSON; all of them are counted
_PATIENCE_S = 1.0
_STEP_S = 0.1
_PIPED_STEP_S = 10.0


@commands.command()
def verify(
    stream: Annotated[
        str | None, typer.Argument(metavar="[STREAM|SESSION]", help="Only this one.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Verify the canonical log, and that agentjournal.events equals it; exit with 1 if not.

    Of the log: versions without a gap, the chain of hashes, each hash, whole batches, repeats that
    are the same bytes. Of the table: every row. What is not projected yet is behind, not different.
    """
    count, tally, listed = wait_for(_verify(stream, as_json=as_json))
    if as_json:
        result = {
            **asdict(tally),
            "differences": count,
            "problems": [problem._asdict() for problem in listed],
        }
        print_json_line(orjson.dumps(result))
    else:
        for line in _summary(tally, count):
            print_line(line)
    raise typer.Exit(1 if count else 0)


async def _verify(name: str | None, *, as_json: bool) -> tuple[int, Tally, list[Problem]]:
    """Return how many problems there are, what was looked at, and the first problems."""
    settings = find_settings()
    stream = None if name is None else stream_named(settings, name)
    count, listed = 0, list[Problem]()
    async with KafkaTopic(settings, settings.events) as topic, stored_events(settings) as stored:
        with _progress() as advance:
            verification = Verification(topic, stored, advance, stream)
            async for problem in verification.run():
                count += 1
                if len(listed) < _MOST_LISTED:
                    listed.append(problem)
                if not as_json:
                    print_line(_line(problem))
    return count, verification.tally, listed


def _line(problem: Problem) -> str:
    version = f" version {problem.version}" if problem.version else ""
    place = f"partition {problem.partition}"
    if problem.position >= 0:
        place += f", position {problem.position}"
    return one_line(f"{problem.stream}{version} ({place}): {problem.text}")


def _summary(tally: Tally, differences: int) -> list[str]:
    places = f"{tally.streams:,} streams, {tally.partitions} partitions"
    table = f"agentjournal.events: {tally.behind:,} events behind"
    if tally.parked:
        table += f", {tally.parked:,} streams parked and not compared"
    lines = [f"log: {tally.events:,} events of {places}, {tally.repeats:,} repeats", table]
    if tally.unfinished:
        lines.append(f"{tally.unfinished:,} batches are not whole yet: the sequencer finishes them")
    if differences:
        lines.append("1 difference" if differences == 1 else f"{differences:,} differences")
    else:
        lines.append("everything fits")
    return lines


@contextmanager
def _progress() -> Generator[Advance]:
    """Show on standard error how far the reading is: a bar on a terminal, else a line at times."""
    on_terminal = sys.stderr.isatty()
    bar = Progress(
        "reading the log",
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
    )
    task = bar.add_task("read", total=None)
    next_s = time.monotonic() + (_PATIENCE_S if on_terminal else _PIPED_STEP_S)

    def advance(done: int, total: int) -> None:
        nonlocal next_s
        if (now := time.monotonic()) < next_s:
            return
        if on_terminal:
            bar.start()  # what is quick needs no bar
            bar.update(task, completed=done, total=total)
            next_s = now + _STEP_S
        else:
            say(f"read {done:,} of {total:,} records")
            next_s = now + _PIPED_STEP_S

    try:
        yield advance
    finally:
        if bar.live.is_started:  # else stopping it prints an empty line
            bar.stop()
