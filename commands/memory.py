"""`memory`: what is known of a user, an account or a project, why, and taking it back."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import typer

import agentjournal
from agentjournal import Log, Memory
from agentjournal.memory.explaining import FactSource
from agentjournal.memory.known import Fact
from agentjournal.settings import Settings, find_settings
from agentjournal.sql_statements import read_statements
from commands.errors import CommandFailed
from commands.harmless import one_line
from commands.lines import print_styled
from commands.memory_lines import fact_lines, source_lines, summary_lines
from commands.memory_text import (
    CURRENT,
    HISTORY,
    SOURCES,
    SUMMARIES,
    current_rows,
    fact_json,
    history_rows,
    memory_json,
    source_json,
    source_rows,
    summary_rows,
)
from commands.postgres_rows import Row, select
from commands.printing import print_json_line, print_json_objects, print_line, print_rows, say
from commands.times import moment
from commands.waiting import wait_for

commands = typer.Typer()

_SQL = read_statements("commands", "known.sql")
_SESSIONS = 5


@dataclass(frozen=True, slots=True)
class Whose:
    """An entity of a tenant."""

    settings: Settings
    kind: str
    name: str

    def __str__(self) -> str:
        return one_line(f"{self.kind} {self.name}")

    def memory(self, log: Log) -> Memory:
        """Return its memory. Raises AppendRejected for what can be no id."""
        match self.kind:
            case "user":
                return log.memory(user=self.name)
            case "account":
                return log.memory(account=self.name)
            case _:
                return log.memory(project=self.name)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which facts are shown, as of when."""

    history: bool
    as_of: datetime | None
    known_at: datetime | None

    @property
    def is_narrow(self) -> bool:
        return self.history or self.as_of is not None or self.known_at is not None


@commands.command()
def memory(  # noqa: PLR0913 - an option for each thing one may ask for
    user: Annotated[str | None, typer.Argument(help="A user's id.", show_default=False)] = None,
    *,
    account: Annotated[str | None, typer.Option("--account", help="Of this account.")] = None,
    project: Annotated[str | None, typer.Option("--project", help="Of this project.")] = None,
    tenant: Annotated[str | None, typer.Option("--tenant", help="Whose data it is.")] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Those too that ended or were forgotten.")
    ] = False,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="What was true then.")
    ] = None,
    known_at: Annotated[
        str | None, typer.Option("--known-at", metavar="TIME", help="What was known then.")
    ] = None,
    explain: Annotated[
        str | None, typer.Option("--explain", metavar="FACT", help="Show the events that say so.")
    ] = None,
    forget: Annotated[
        str | None, typer.Option("--forget", metavar="FACT", help="Take it back.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before that.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON value.")] = False,
) -> None:
    """Show what is known of a user, an account or a project, and what its last sessions were about.

    FACT is an attribute, for all of its facts, or the id of one, of which the start is enough.
    What is forgotten is hidden from now on; its events stay in the log.
    """
    entity = _entity({"user": user, "account": account, "project": project})
    wanted = Wanted(history, _at("--as-of", as_of), _at("--known-at", known_at))
    if (explain is not None) + (forget is not None) + wanted.is_narrow > 1:
        raise typer.BadParameter("--explain, --forget, and what narrows facts do not go together")
    if yes and forget is None:
        raise typer.BadParameter("--yes goes with --forget")
    whose = Whose(find_settings(tenant=tenant), *entity)
    if forget is not None:
        _forget(whose, forget, yes=yes, as_json=as_json)
    elif explain is not None:
        _explain(whose, explain, as_json=as_json)
    else:
        _show(whose, wanted, as_json=as_json)


def _entity(named: Mapping[str, str | None]) -> tuple[str, str]:
    found = [(kind, name) for kind, name in named.items() if name is not None]
    if len(found) != 1:
        raise typer.BadParameter("name one user, or one --account, or one --project")
    return found[0]


def _at(option: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return moment(text)
    except (OverflowError, ValueError):
        message = f"{text!r} is no time like 2026-01-31T12:00"
        raise typer.BadParameter(message, param_hint=option) from None


def _show(whose: Whose, wanted: Wanted, *, as_json: bool) -> None:
    facts = wait_for(_facts(whose, wanted))
    summaries = _summaries(whose, wanted.known_at)
    if as_json:
        print_json_line(memory_json(whose.kind, whose.name, facts, summaries))
        return
    if not facts:
        then = " as of then" if wanted.as_of or wanted.known_at else ""
        print_line(f"nothing is known of {whose}{then}")
    elif sys.stdout.isatty():
        print_styled(fact_lines(facts))
    elif wanted.history:
        print_rows(HISTORY, history_rows(facts))
    else:
        print_rows(CURRENT, current_rows(facts))
    if summaries:
        print_line("")
        if sys.stdout.isatty():
            print_styled(summary_lines(summaries))
        else:
            print_rows(SUMMARIES, summary_rows(summaries))


def _explain(whose: Whose, what: str, *, as_json: bool) -> None:
    sources = wait_for(_sources(whose, what))
    if as_json:
        print_json_objects(map(source_json, sources))
    elif sys.stdout.isatty():
        print_styled(source_lines(sources))
    else:
        print_rows(SOURCES, source_rows(sources))


def _forget(whose: Whose, what: str, *, yes: bool, as_json: bool) -> None:
    found = wait_for(_due(whose, what))
    if not yes:
        for fact in found:
            say(one_line(f"{fact.attribute}: {fact.quote}"))
        typer.confirm(f"forget {_counted(len(found))} of {whose}?", abort=True, err=True)
    wait_for(_forgotten(whose, found, what))
    if as_json:
        print_json_objects(map(fact_json, found))
    elif sys.stdout.isatty():
        print_styled(fact_lines(found))
    else:
        print_rows(CURRENT, current_rows(found))
    say(f"{_counted(len(found))} of {whose} forgotten; the events stay in the log")


def _counted(facts: int) -> str:
    return f"{facts} fact{'' if facts == 1 else 's'}"


async def _facts(whose: Whose, wanted: Wanted) -> list[Fact]:
    async with agentjournal.connect(tenant=whose.settings.tenant) as log:
        memory = whose.memory(log)
        if not wanted.history:
            return await memory.facts(as_of=wanted.as_of, known_at=wanted.known_at)
        found = await memory.history(known_at=wanted.known_at)
        as_of = wanted.as_of
        return found if as_of is None else [fact for fact in found if fact.valid_from <= as_of]


def _summaries(whose: Whose, known_at: datetime | None) -> list[Row]:
    values = {
        "tenant": whose.settings.tenant,
        "kind": whose.kind,
        "name": whose.name,
        "known_at": known_at,
        "most": _SESSIONS,
    }
    return select(whose.settings, _SQL["summaries"], values)


async def _sources(whose: Whose, what: str) -> list[FactSource]:
    async with agentjournal.connect(tenant=whose.settings.tenant) as log:
        memory = whose.memory(log)
        found = named_facts(whose, await memory.history(), what)
        return [source for fact in found for source in await memory.explain(fact)]


async def _forgotten(whose: Whose, found: Sequence[Fact], what: str) -> None:
    async with agentjournal.connect(tenant=whose.settings.tenant) as log:
        if found[0].attribute == what:
            await whose.memory(log).forget(attribute=what)
        else:
            await whose.memory(log).forget(found[0])


async def _due(whose: Whose, what: str) -> list[Fact]:
    async with agentjournal.connect(tenant=whose.settings.tenant) as log:
        known = await whose.memory(log).history()
    return named_facts(whose, [fact for fact in known if fact.ended_by != "retracted"], what)


def named_facts(whose: object, facts: Sequence[Fact], what: str) -> list[Fact]:
    """Return the facts of an attribute, or the one whose id starts so.

    Raises CommandFailed when there is none, or more than one of such an id.
    """
    if found := [fact for fact in facts if fact.attribute == what]:
        return found
    found = [
        fact for fact in facts if what and any(each.startswith(what) for each in fact.fact_ids)
    ]
    if not found:
        known = ", ".join(sorted({fact.attribute for fact in facts})) or "nothing"
        raise CommandFailed(one_line(f"no fact of {whose} is {what!r}; known is {known}"))
    if len(found) > 1:
        raise CommandFailed(
            one_line(f"{len(found)} facts of {whose} have ids that start so: {what}")
        )
    return found
