"""`tree`: sessions that began others, with what was handed over and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

import agentjournal
from agentjournal.settings import find_settings
from commands.errors import CommandFailed
from commands.naming import Named, SessionName, no_such_session, session_named
from commands.postgres_rows import Row
from commands.postgres_waiting import rows
from commands.printing import Column, print_json_array, print_rows
from commands.waiting import wait_for

commands = typer.Typer()

_COLUMNS = (
    Column("session"),
    Column("agent", short=True),
    Column("status", short=True),
    Column("handoff", short=True),
    Column("task"),
    Column("result"),
)


@commands.command()
def tree(
    session: SessionName,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """Show the sessions of the same tree: who handed what to whom, and what came of it."""
    settings = find_settings()
    named = session_named(settings, session)
    found = rows(settings, "tree", tenant=named.tenant, session=named.session_id)
    if not found:
        raise wait_for(_no_such(named))
    if as_json:
        print_json_array(found)
    else:
        print_rows(_COLUMNS, [_line(found, at) for at in range(len(found))])


async def _no_such(named: Named) -> CommandFailed:
    async with agentjournal.connect(tenant=named.tenant) as log:
        return await no_such_session(log, named)


def _line(found: Sequence[Row], at: int) -> list[str]:
    row = found[at]
    error = None if row["error_type"] is None else f"{row['error_type']}: {row['error_message']}"
    result = row["summary"] if error is None else error
    return [
        branch([each["depth"] for each in found], at) + row["session_id"],
        row["agent"] or "-",
        row["status"] or "not begun",
        row["handoff"] or row["relation"] or "-",
        _first_line(row["task"] or row["title"]),
        _first_line(result),
    ]


def branch(depths: Sequence[int], at: int) -> str:
    """Return what is drawn before a session: the branches of a tree whose depths are in order."""
    drawn = ""
    for depth in range(1, depths[at] + 1):
        after = next((d for d in depths[at + 1 :] if d <= depth), 0)
        goes_on = after == depth
        if depth == depths[at]:
            drawn += "├─ " if goes_on else "└─ "
        else:
            drawn += "│  " if goes_on else "   "
    return drawn


def _first_line(text: str | None) -> str:
    if not text:
        return "-"
    first, _, more = text.partition("\n")
    return f"{first} …" if more else first
