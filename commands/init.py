"""`init`: the topics and tables that roles work with."""

from __future__ import annotations

import asyncio

import typer

from agentjournal.settings import find_settings

commands = typer.Typer()


@commands.command()
def init() -> None:
    """Make the topics and tables that are missing; repeat it as often as you like."""
    from consumers.running import initialise  # noqa: PLC0415 - loads what only roles need

    done = asyncio.run(initialise(find_settings()))
    for line in done:
        print(f"done: {line}")
    if not done:
        print("nothing to do")
