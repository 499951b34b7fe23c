"""`top`: what a log and its roles do now, on one screen."""

from __future__ import annotations

import sys
from typing import Annotated

import orjson
import typer

from agentjournal.settings import Settings, find_settings
from commands.printing import print_json_line, print_line, terminal
from commands.top_figures import Snapshot, for_programs
from commands.top_reading import Watch, sources_of
from commands.top_text import screen
from commands.waiting import wait_for

commands = typer.Typer()


@commands.command()
def top(
    *,
    interval: Annotated[
        float, typer.Option("--interval", min=0.2, max=3_600, help="Seconds between two looks.")
    ] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Print it once, as text.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show sessions, work, alerts, lag and rates of all tenants, until q or Ctrl-C.

    Where output is no terminal it is printed once. A server that is away is said in its place.
    """
    settings = find_settings()
    if as_json:
        print_json_line(orjson.dumps(for_programs(wait_for(_read(settings)))))
    elif once or not sys.stdout.isatty() or terminal().is_dumb_terminal:
        for line in screen(wait_for(_read(settings))):
            print_line(line.text)
    else:
        from commands.top_screen import show  # noqa: PLC0415 - only terminals need it

        wait_for(show(settings, interval))


async def _read(settings: Settings) -> Snapshot:
    watch = Watch(sources_of(settings))
    try:
        await watch.read()
    finally:
        await watch.close()
    return watch.snapshot()
