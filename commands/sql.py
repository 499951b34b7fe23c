"""`sql` and `psql`: the read models, under the analyst's role."""

from __future__ import annotations

import codecs
import csv
import os
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from agentjournal.settings import find_settings
from commands.postgres_analyst import Result, query
from commands.postgres_shell import shell
from commands.printing import Column, print_json_objects, print_rows, say
from commands.result_text import cell, distinct_names, json_row
from commands.waiting import quiet_drivers

commands = typer.Typer()


@commands.command(name="sql")
def run_sql(
    statement: Annotated[str, typer.Argument(metavar="QUERY", help="One SQL statement.")],
    *,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with a line of names.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """Run one SQL statement on the read models; nothing can be changed by it.

    Views are found without their schema: SELECT * FROM sessions. It ends after 60 s.
    """
    if as_csv and as_json:
        raise typer.BadParameter("--csv and --json exclude each other")
    quiet_drivers()
    with query(find_settings(), statement) as result:
        if as_json:
            names = distinct_names([column.name for column in result.columns])
            print_json_objects(json_row(names, row) for row in result.rows)
        elif as_csv:
            _print_csv(result)
        elif result.columns:
            columns = [
                Column(each.name, "right" if each.is_number else "left") for each in result.columns
            ]
            print_rows(columns, _texts(result))
        else:
            say("done; the statement gives no rows")


@commands.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def psql(context: typer.Context) -> None:
    """Open psql on the read models, under the analyst's role; it is given all that follows."""
    program, arguments, environment = shell(find_settings(), os.environ)
    os.execve(program, [program, *arguments, *context.args], environment)  # noqa: S606


def _texts(result: Result) -> Iterator[list[str]]:
    for row in result.rows:
        yield [cell(value) for value in row]


def _print_csv(result: Result) -> None:
    writer = csv.writer(codecs.getwriter("utf-8")(sys.stdout.buffer), lineterminator="\n")
    writer.writerow([column.name for column in result.columns])
    writer.writerows(_texts(result))
