"""The command line `agentjournal`: every command, and how a command ends."""

from __future__ import annotations

import sys
from importlib import import_module

import typer

from agentjournal.errors import AgentJournalError

# In the order of `--help`. Only the module of the command that is called is loaded.
_MODULES = {
    "stack": ("up", "down", "status", "logs"),
    "init": ("init",),
    "running": ("run",),
    "work": ("work",),
    "health": ("health",),
    "sessions": ("sessions",),
    "show": ("show",),
    "diff": ("diff",),
    "history": ("history",),
    "fork": ("fork",),
    "memory": ("memory",),
    "promote": ("promote",),
    "tree": ("tree",),
    "approvals": ("approvals",),
    "approve": ("approve", "deny"),
    "unknown": ("unknown", "settle"),
    "files": ("files",),
    "revert": ("revert",),
    "tail": ("tail",),
    "top": ("top",),
    "alerts": ("alerts",),
    "sql": ("sql", "psql"),
    "verify": ("verify",),
    "rebuild": ("rebuild",),
    "check_upgrade": ("check-upgrade",),
    "dead": ("dead",),
    "parked": ("parked", "redrive"),
    "subscriptions": ("subscriptions",),
    "importing": ("import",),
    "export": ("export",),
    "schemas": ("schemas",),
}


def command_line(only: str | None = None) -> typer.Typer:
    """Return the command line with all commands, or with those beside the command `only`."""
    app = typer.Typer(
        name="agentjournal",
        help="Event-sourced state for AI agents.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(_always_a_group)
    chosen = [module for module, names in _MODULES.items() if only in names]
    for module in chosen or _MODULES:
        app.add_typer(import_module(f"commands.{module}").commands)
    return app


def _always_a_group() -> None:
    """Event-sourced state for AI agents."""


def main() -> None:
    """Run the command line. Status 0: done; 1: failed, with one line on stderr; 2: wrong use."""
    try:
        command_line(sys.argv[1] if len(sys.argv) > 1 else None)()
    except AgentJournalError as error:
        print("error:", *str(error).splitlines(), file=sys.stderr)
        sys.exit(1)
