"""`sessions`: what there is to show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Literal

import typer

import agentjournal
from agentjournal import SessionInfo
from commands.printing import Column, print_json_array, print_rows
from commands.times import date_and_clock
from commands.waiting import wait_for

commands = typer.Typer()

Status = Literal["open", "ended", "expired", "deleted"]

_COLUMNS = (
    Column("session"),
    Column("user"),
    Column("status", short=True),
    Column("last active", short=True),
    Column("messages", "right", short=True),
    Column("open", "right", short=True),
    Column("in", "right", short=True, optional=True),
    Column("out", "right", short=True, optional=True),
    Column("title", optional=True),
    Column("agent", optional=True),
)


@commands.command()
def sessions(
    *,
    user: Annotated[str | None, typer.Option("--user", help="Only those of this user.")] = None,
    status: Annotated[Status | None, typer.Option("--status", help="Only those.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many at most.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """List sessions, the latest active first.

    `in` and `out` are tokens of model calls; `open` counts tool calls without an outcome.
    """
    found = wait_for(_found(user, status, limit))
    if as_json:
        print_json_array(asdict(each) for each in found)
    else:
        print_rows(_COLUMNS, _rows(found))


async def _found(user: str | None, status: str | None, limit: int) -> list[SessionInfo]:
    async with agentjournal.connect() as log:
        return [each async for each in log.sessions(user=user, status=status, limit=limit)]


def _rows(found: list[SessionInfo]) -> Iterator[list[str]]:
    for each in found:
        yield [
            each.session_id,
            each.user_id or "-",
            each.status,
            date_and_clock(each.last_activity_at)[:-3],
            str(each.messages),
            str(each.open_calls),
            str(each.input_tokens),
            str(each.output_tokens),
            each.title or "-",
            each.agent or "-",
        ]
