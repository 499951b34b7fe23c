"""The command line `agentjournal`: every command, and how a command ends."""

from __future__ import annotations

import sys

import typer

from agentjournal.errors import AgentJournalError
from commands import (
    check_upgrade,
    dead,
    diff,
    health,
    history,
    importing,
    init,
    parked,
    running,
    sessions,
    show,
    sql,
    stack,
    tail,
    verify,
)

app = typer.Typer(
    name="agentjournal",
    help="Event-sourced state for AI agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for module in (
    stack,
    init,
    running,
    health,
    sessions,
    show,
    diff,
    history,
    tail,
    sql,
    verify,
    check_upgrade,
    dead,
    parked,
    importing,
):
    app.add_typer(module.commands)


def main() -> None:
    """Run the command line. Status 0: done; 1: failed, with one line on stderr; 2: wrong use."""
    try:
        app()
    except AgentJournalError as error:
        print("error:", *str(error).splitlines(), file=sys.stderr)
        sys.exit(1)
