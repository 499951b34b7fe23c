"""`init`: the topics and tables that roles work with."""

from __future__ import annotations

import typer

from agentjournal.settings import find_settings
from commands.waiting import wait_for

commands = typer.Typer()


@commands.command()
def init() -> None:
    """Make the topics and tables that are missing; repeat it as often as you like."""
    from consumers.running import initialise  # noqa: PLC0415 - loads what only roles need

    done = wait_for(initialise(find_settings()))
    for line in done:
        print(f"done: {line}")
    if not done:
        print("nothing to do")
