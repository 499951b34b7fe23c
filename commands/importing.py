"""Files of other tools: `import`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from agentjournal.errors import AppendRejected
from agentjournal.ids import stream_id
from agentjournal.settings import Settings, find_settings
from commands.harmless import as_cell, one_line
from commands.printing import Column, print_line, print_rows, say
from commands.waiting import wait_for

if TYPE_CHECKING:
    from importers.files import File
    from importers.run import Account

commands = typer.Typer()

SHOWN = 20  # remarks about a file; the others are in --json
_COLUMNS = (
    Column("file"),
    Column("records", "right", short=True, optional=True),
    Column("sessions", "right", short=True),
    Column("messages", "right", short=True),
    Column("tool calls", "right", short=True, optional=True),
    Column("results", "right", short=True, optional=True),
    Column("added", "right", short=True),
    Column("there", "right", short=True),
    Column("left out", "right", short=True),
)


@commands.command(name="import")
def import_sessions(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", exists=True, readable=True, help="Files or folders."),
    ],
    *,
    tenant: Annotated[str | None, typer.Option(help="Whose log; else AGENTJOURNAL_TENANT.")] = None,
    user: Annotated[str | None, typer.Option(help="Whom the sessions belong to.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Import sessions from files: of `agentjournal export`, or OpenAI chat messages in JSON.

    An exported session keeps its name and its order, and its events their ids. Another is named
    for its file, and by its own name too when the file has more than one. Of a folder every *.json
    and *.jsonl that is recognised is imported. Importing a file again adds nothing, or what the
    file has more by then: `added` and `there` count events, new and old.

    Exit status 1: something was left out, and is named; import again when it is mended.
    """
    from importers.files import files_of  # noqa: PLC0415 - loads every driver, half a second

    _check_names(tenant, user)
    found = files_of(files)
    settings = find_settings(tenant=tenant)
    accounts: list[Account] = []
    try:
        _run(found, settings, user, accounts, quiet=as_json)
    finally:  # what was done is done, whatever ended it
        if as_json:
            print_line(json.dumps({"files": [account.as_json() for account in accounts]}, indent=2))
        else:
            _print(accounts)
    raise typer.Exit(1 if any(account.failed for account in accounts) else 0)


def _run(
    found: Sequence[File],
    settings: Settings,
    user: str | None,
    accounts: list[Account],
    *,
    quiet: bool,
) -> None:
    from importers.run import import_files  # noqa: PLC0415 - as above

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    hidden = quiet or not console.is_terminal
    bar = Progress(*columns, TimeRemainingColumn(), console=console, transient=True, disable=hidden)
    with bar:
        sizes = {file: max(1, file.path.stat().st_size) for file in found}
        task = bar.add_task("importing", total=sum(sizes.values()))

        def advance(file: File, share: float) -> None:
            bar.update(task, advance=share * sizes[file], description=as_cell(file.path.name))

        wait_for(import_files(found, settings, user=user, accounts=accounts, advance=advance))


def _check_names(tenant: str | None, user: str | None) -> None:
    for option, name in (("--tenant", tenant), ("--user", user)):
        if name is not None:
            try:
                stream_id("user", name, name)
            except AppendRejected as error:
                raise typer.BadParameter(f"{error.reason}", param_hint=option) from None


def _print(accounts: Sequence[Account]) -> None:
    imported = [account for account in accounts if account.not_recognised is None]
    if imported:
        print_rows(_COLUMNS, ([str(each.file.path), *map(str, _counts(each))] for each in imported))
    if imported:
        print_line(_total([sum(counts) for counts in zip(*map(_counts, imported), strict=True)]))
    for account in accounts:
        for line in _remarks(account):
            print_line(one_line(line))
    if not accounts:
        say("there is no *.json and no *.jsonl")


def _counts(account: Account) -> tuple[int, ...]:
    report = account.report
    return (
        *(report.records, report.sessions, report.messages, report.tool_calls, report.results),
        *(account.added, account.there, len(report.left_out)),
    )


def _total(counts: Sequence[int]) -> str:
    records, sessions, messages, calls, results, added, there, left_out = (
        f"{count:,}" for count in counts
    )
    talk = f"{sessions} sessions, {messages} messages, {calls} tool calls, {results} results"
    events = f"{added} events added, {there} already there"
    return f"{records} records: {talk}; {events}; {left_out} left out"


def _remarks(account: Account) -> Iterator[str]:
    path = account.file.path
    if account.not_recognised is not None:
        yield f"not recognised: {path}: {account.not_recognised}"
    for word, remarks in (("left out", account.report.left_out), ("note", account.report.notes)):
        for remark in remarks[:SHOWN]:
            yield f"{word}: {path}: {remark}"
        if len(remarks) > SHOWN:
            yield f"{word}: {path}: and {len(remarks) - SHOWN:,} more, which --json names"
