"""The local stack: `up`, `down`, `status`, `logs`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from agentjournal.errors import NotConfigured
from agentjournal.settings import HOME_FOLDER, find_home
from local.detached import start_detached, stop_stack
from local.home import Home, is_supervised
from local.logs import LOG_NAMES, added_lines, last_lines
from local.status import Status, status_of

commands = typer.Typer()

HINTS = (
    ("agentjournal status", "what runs"),
    ("agentjournal logs --follow", "what it says"),
    ("agentjournal down", "stops it; the data stays"),
)


@commands.command()
def up(
    *,
    detach: Annotated[
        bool, typer.Option("-d", "--detach", help="Leave it running, and return when it is ready.")
    ] = False,
) -> None:
    """Start Kafka, Postgres and Valkey, and the roles that work with them.

    The stack lives in $AGENTJOURNAL_HOME, or in `.agentjournal/` here or in a folder above; one is
    made here when there is none. Without -d it runs until Ctrl-C.
    """
    home = Home(_home_to_start().absolute())
    if is_supervised(home):
        print(f"the stack in {home.path} is already running")
        start_detached(home.path, say=print)  # it may still be on its way
        _print_addresses(home)
    elif detach:
        print(f"starting the stack in {home.path}")
        start_detached(home.path, say=print)
        _print_addresses(home)
        for command, purpose in HINTS:
            print(f"next: {command:<27} {purpose}")
    else:
        from local.supervise import supervise  # noqa: PLC0415 - loads every driver, half a second

        print(f"starting the stack in {home.path}; Ctrl-C stops it", flush=True)
        supervise(home.path, on_terminal=True)


@commands.command()
def down() -> None:
    """Stop the local stack; its data stays in its folder."""
    home = find_home()
    if home is not None and stop_stack(home, say=print):
        print(f"the stack in {home} is stopped; its data stays there")
    else:
        print("no stack runs here")


@commands.command()
def status(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False
) -> None:
    """Show what runs of the local stack, and where; exit with 1 unless all of it runs."""
    found = status_of(Home(_home_to_start().absolute()))
    if as_json:
        print(json.dumps(found.as_json(), indent=2))
    elif sys.stdout.isatty():
        Console().print(_table(found))
    else:
        for name, pid, state, address in _rows(found):
            print(name, state, pid, address)
    if not as_json and found.supervisor.pid is None:
        print(f"nothing supervises {found.home}: `agentjournal up -d` starts it", file=sys.stderr)
    raise typer.Exit(0 if found.all_run else 1)


@commands.command()
def logs(
    name: Annotated[
        str | None, typer.Argument(metavar="[ROLE]", help=f"One of {', '.join(LOG_NAMES)}.")
    ] = None,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what is added, until Ctrl-C.")
    ] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="How many lines back.")] = 20,
) -> None:
    """Show the logs of the local stack, or of one server or role."""
    if name is not None and name not in LOG_NAMES:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(LOG_NAMES)}")
    home = _home_that_exists()
    names = LOG_NAMES if name is None else (name,)
    for each in names:
        for line in last_lines(home.log(each), lines):
            _print_line(each, line, one=name is not None)
    if follow:
        for each, line in added_lines(home, names):
            _print_line(each, line, one=name is not None)


def _print_line(name: str, line: str, *, one: bool) -> None:
    print(line if one else f"{name:<10} | {line}", flush=True)


def _home_to_start() -> Path:
    return find_home() or Path.cwd() / HOME_FOLDER


def _home_that_exists() -> Home:
    home = find_home()
    if home is None or not home.is_dir():
        raise NotConfigured("there is no stack here: `agentjournal up -d` starts one")
    return Home(home.resolve())


def _print_addresses(home: Home) -> None:
    for name, service in status_of(home).services.items():
        print(f"{name:<10} {service.address}")


def _rows(found: Status) -> list[tuple[str, str, str, str]]:
    """Return (name, pid, state, address) of every part."""
    supervisor, roles = found.supervisor, found.roles
    return [
        ("supervisor", str(supervisor.pid or "-"), supervisor.state, "-"),
        *(
            (name, str(each.pid or "-"), each.state, each.address or "-")
            for name, each in found.services.items()
        ),
        *((name, str(each.pid or "-"), each.state, "-") for name, each in roles.items()),
    ]


def _table(found: Status) -> Table:
    table = Table("part", "pid", "state", "address", title=found.home)
    for name, pid, state, address in _rows(found):
        colour = {"running": "green", "restarting": "yellow"}.get(state, "red")
        table.add_row(name, pid, f"[{colour}]{state}", address)
    return table
