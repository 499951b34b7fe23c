"""`unknown` and `settle`: what nobody knows the outcome of, and saying it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer

from agentjournal import Session, ToolCall
from commands.answering import answered, json_option
from commands.errors import CommandFailed
from commands.harmless import one_line
from commands.naming import OneOrAll, SessionName
from commands.postgres_rows import Row
from commands.postgres_waiting import rows_of
from commands.printing import Column, print_json_array, print_line, print_rows, say
from commands.times import date_and_clock

commands = typer.Typer()

_COLUMNS = (
    Column("where"),
    Column("kind", short=True),
    Column("id"),
    Column("what"),
    Column("effect", short=True),
    Column("attempt", "right", short=True),
    Column("started", short=True),
    Column("key", optional=True),
)


@commands.command()
def unknown(
    session: OneOrAll = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """List calls and steps that were begun, and whose worker is gone: did they happen?

    `key` is what the outside system knows them by. `settle` says what came of a call.
    """
    found = rows_of(session, "unknown")
    if as_json:
        print_json_array(found)
    else:
        print_rows(_COLUMNS, _lines(found))


def _lines(found: Iterable[Row]) -> Iterator[list[str]]:
    for row in found:
        arguments = row["arguments"] or ""
        yield [
            row["session_id"] or f"task {row['task_id']}",
            row["kind"],
            row["id"],
            f"{row['what']} {arguments}".rstrip(),
            row["effect"] or "-",
            str(row["attempt"]),
            date_and_clock(row["started_at"]),
            row["idempotency_key"] or "-",
        ]


@commands.command()
def settle(
    session: SessionName,
    call: Annotated[str, typer.Argument(help="A call's id, as `unknown` lists it.")],
    *,
    completed: Annotated[
        str | None, typer.Option("--completed", metavar="TEXT", help="It happened: its output.")
    ] = None,
    failed: Annotated[
        str | None, typer.Option("--failed", metavar="TEXT", help="It did not: why.")
    ] = None,
    evidence: Annotated[
        str | None, typer.Option("--evidence", metavar="JSON", help="How one knows.")
    ] = None,
) -> None:
    """Say what came of a call. The first outcome stands; status 1 when that is another one."""
    if (completed is None) == (failed is None):
        raise typer.BadParameter("give one of --completed and --failed")
    known: Any = json_option("--evidence", evidence)

    async def settled(found: Session) -> ToolCall:
        return await found.settle(call, output=completed, error=failed, evidence=known)

    held = answered(session, settled)
    said = one_line(f"call {held.call_id} of {held.tool} is {held.outcome}")
    if held.outcome != ("completed" if failed is None else "failed"):
        raise CommandFailed(said)
    stands = held.output if failed is None else held.error and held.error.message
    if stands != (completed if failed is None else failed):
        say(one_line(f"what was said first stands: {stands}"))
    print_line(said)
