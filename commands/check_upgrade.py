"""`check-upgrade`: whether this code reads the sessions that there are."""

from __future__ import annotations

import importlib
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import orjson
import typer

from agentjournal.artifacts import artifacts_of
from agentjournal.postgres_views import PostgresViews
from agentjournal.settings import Settings, find_settings
from commands.errors import CommandFailed
from commands.harmless import one_line
from commands.postgres_sampled import sampled
from commands.printing import print_json_line, print_line, say
from commands.upgrade_check import Failure, Tally, checked
from commands.waiting import wait_for

commands = typer.Typer()

_SAY_EVERY = 500  # sessions


@commands.command()
def check_upgrade(
    *,
    sample: Annotated[
        int, typer.Option("--sample", min=1, help="How many sessions at most, old and new.")
    ] = 1_000,
    models: Annotated[
        list[str] | None,
        typer.Option("--models", metavar="MODULE", help="Registers your event types; repeatable."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Load copies of stored sessions with this code, and list those that fail; exit with 1 then.

    Nothing is written. Sessions are those of the tenant, spread from the oldest to the newest.
    """
    for module in models or []:
        _register(module)
    tally, failures = wait_for(_check(find_settings(), sample, as_json=as_json))
    if as_json:
        listed = [failure._asdict() for failure in failures]
        print_json_line(orjson.dumps({**asdict(tally), "failures": listed}))
    else:
        for line in _summary(tally, len(failures)):
            print_line(line)
    raise typer.Exit(1 if failures else 0)


def _register(module: str) -> None:
    if (here := str(Path.cwd())) not in sys.path:  # as `python -m` has it
        sys.path.insert(0, here)
    try:
        importlib.import_module(module)
    except Exception as error:
        reason = one_line(f"{type(error).__name__}: {error}")
        raise CommandFailed(f"--models {module} cannot be imported: {reason}") from error


async def _check(settings: Settings, most: int, *, as_json: bool) -> tuple[Tally, list[Failure]]:
    sample = await sampled(settings, most)
    tally, failures = Tally(total_sessions=sample.total), list[Failure]()
    views = PostgresViews(settings, artifacts_of(settings))
    try:
        for stream in sample.streams:
            found = await checked(views, stream)
            tally.sessions += 1
            if isinstance(found, Failure):
                failures.append(found)
                if not as_json:
                    print_line(_line(found))
            else:
                tally.count(found)
            if tally.sessions % _SAY_EVERY == 0:
                say(f"loaded {tally.sessions:,} of {len(sample.streams):,} sessions")
    finally:
        await views.close()
    return tally, failures


def _line(failure: Failure) -> str:
    place = f"{failure.stream} version {failure.version}"
    if failure.error.startswith(place):  # an error of ours says where
        return one_line(failure.error)
    kind = f" ({failure.type})" if failure.type else ""
    return one_line(f"{place}{kind}: {failure.error}")


def _summary(tally: Tally, failures: int) -> list[str]:
    read = f"{tally.events:,} events, {tally.upcast:,} of them upcast"
    lines = [f"{tally.sessions:,} of {tally.total_sessions:,} sessions: {read}"]
    if tally.skipped:
        counts = ", ".join(f"{count:,} {one_line(kind)}" for kind, count in tally.skipped.items())
        lines.append(f"kept without a model: {counts}")
    if failures:
        lines.append("1 failure" if failures == 1 else f"{failures:,} failures")
    else:
        lines.append("every one of them loads")
    return lines
