"""`approvals`: what somebody is asked to allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from commands.naming import OneOrAll
from commands.postgres_rows import Row
from commands.postgres_waiting import rows_of
from commands.printing import Column, print_json_array, print_rows
from commands.times import date_and_clock

commands = typer.Typer()

_COLUMNS = (
    Column("session"),
    Column("approval", short=True),
    Column("question"),
    Column("call"),
    Column("asked", short=True),
    Column("expires", short=True),
    Column("status", short=True),
    Column("of", optional=True),
    Column("answered by", optional=True),
    Column("comment", optional=True),
)


@commands.command()
def approvals(
    session: OneOrAll = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Those too that were answered.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """List what waits for somebody's approval, the longest waiting first.

    `approve` and `deny` answer it.
    """
    found = rows_of(session, "approvals", all=every)
    if as_json:
        print_json_array(found)
    else:
        print_rows(_COLUMNS, _lines(found))


def _lines(found: Iterable[Row]) -> Iterator[list[str]]:
    for row in found:
        edited = row["edited_arguments_text"]
        arguments = row["arguments_text"] if edited is None else edited
        yield [
            row["session_id"],
            row["approval_id"],
            row["question"],
            "-" if row["tool"] is None else f"{row['tool']} {arguments}",
            date_and_clock(row["requested_at"]),
            "-" if row["expires_at"] is None else date_and_clock(row["expires_at"]),
            row["status"],
            row["requested_of"] or "-",
            row["answered_by"] or "-",
            row["comment"] or "-",
        ]
