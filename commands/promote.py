"""`promote`: keep what is worth keeping of a session now, or see what that would be, and why.

Of a text alone it needs no server: that is for whoever writes slots or rules.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple

import typer

from agentjournal.errors import SessionNotFound, StreamDeleted, Unavailable
from agentjournal.events import Entity
from agentjournal.ids import StreamId, Version
from agentjournal.limits import ConfiguredLimits
from agentjournal.log import Log
from agentjournal.memory.candidates import Refused, Role, Statement
from agentjournal.memory.extractors import extracting_of
from agentjournal.memory.fact_events import value_taken_back
from agentjournal.memory.promoter import Promoter
from agentjournal.memory.promoting import Promotion
from agentjournal.memory.wanting import in_their_order
from agentjournal.servers import servers_of
from agentjournal.settings import Settings, find_settings
from commands.errors import CommandFailed
from commands.naming import no_such_session, session_named
from commands.printing import Column, print_json_array, print_rows
from commands.waiting import wait_for

commands = typer.Typer()

_COLUMNS = (
    Column("outcome", short=True),
    Column("about"),
    Column("attribute"),
    Column("value"),
    Column("said by", short=True),
    Column("version", "right", short=True),
    Column("quote"),
)
_ANY = "-"  # of whom a text is, and of which session
_SESSIONS = (Column("session"), Column("outcome", short=True), Column("why"))


class Line(NamedTuple):
    """What becomes of something that was said: a fact, a retraction, or why it is no fact."""

    outcome: str
    about: str
    attribute: str
    value: Any
    said_by: str
    version: int
    quote: str


class Retried(NamedTuple):
    """What became of a session that could not be promoted before."""

    stream: str
    outcome: str
    why: str = ""


@commands.command()
def promote(
    session: Annotated[
        str | None, typer.Argument(help="A session's id, or its stream.", show_default=False)
    ] = None,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Append nothing: show what would be learned.")
    ] = False,
    failed: Annotated[
        bool, typer.Option("--failed", help="Try all sessions again that could not be promoted.")
    ] = False,
    text: Annotated[
        str | None,
        typer.Option("--text", help="Show what would be learned of a user who says this."),
    ] = None,
    asked: Annotated[
        str | None, typer.Option("--asked", help="What the assistant says before --text.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """Learn what is worth keeping of a session, and show it with who said it, and what is refused.

    Nothing is learned twice, whoever promotes. Status 1 when a session cannot be promoted. With
    --text nothing is learned, and no server is needed.
    """
    if (session is not None) + failed + (text is not None) != 1:
        raise typer.BadParameter("name a session, or give --failed, or --text")
    if dry_run and session is None:
        raise typer.BadParameter("--dry-run goes with a session")
    if asked is not None and text is None:
        raise typer.BadParameter("--asked goes with --text")
    if text is not None:
        settings = find_settings(kafka=_ANY, postgres=_ANY, redis=_ANY)  # none of them is asked
        _show(wait_for(_heard(settings, text, asked)), as_json=as_json)
        return
    settings = find_settings()
    if session is None:
        again = wait_for(_retried(settings))
        if as_json:
            print_json_array(each._asdict() for each in again)
        else:
            print_rows(_SESSIONS, again)
        if any(each.outcome == "failed" for each in again):
            sys.exit(1)
        return
    promoted = wait_for(_promoted(settings, session, dry_run=dry_run))
    _show(list(lines_of(promoted)), as_json=as_json)


def _show(lines: Sequence[Line], *, as_json: bool) -> None:
    if as_json:
        print_json_array(each._asdict() for each in lines)
    else:
        print_rows(_COLUMNS, (list(map(str, line)) for line in lines))


async def _heard(settings: Settings, text: str, asked: str | None) -> list[Line]:
    """Return what is made of a text of the user, after what the assistant said, in its order."""
    turns: list[tuple[Role, str]] = [("user", text)]
    if asked is not None:
        turns.insert(0, ("assistant", asked))
    at = datetime.now(UTC).isoformat()
    statements = [
        Statement(_ANY, f"{version}", Version(version), at, role, "message", each)
        for version, (role, each) in enumerate(turns, 1)
    ]
    entities = [Entity(kind=kind, id=_ANY) for kind in ("user", "account", "project")]
    found = await extracting_of(settings).extract(statements, entities)
    lines = [
        Line(
            "retracted" if each.retracts else "learned",
            each.entity.kind,
            each.attribute,
            "" if each.value is None else each.value,
            each.statement.role,
            each.statement.version,
            each.quote,
        )
        for each in in_their_order(found.candidates)
    ]
    return [*lines, *_refused(found.refused)]


def _refused(refused: Iterable[Refused]) -> Iterator[Line]:
    """Yield a line for each reason that a sentence is refused for, however many rules it met."""
    yield from dict.fromkeys(
        Line("refused", "", reason, "", said.role, said.version, quote)
        for reason, quote, said in refused
    )


def lines_of(promotion: Promotion) -> Iterator[Line]:
    """Yield a line for each thing that a session says, in the order in which it was said."""
    new = {each.fact.fact_id for each in promotion.learned}
    lines: list[Line] = []
    for who, fact in promotion.said:
        outcome = "learned" if fact.fact_id in new else "known"
        version = fact.evidence[0].version
        lines.append(
            Line(outcome, _name(who), fact.attribute, fact.value, fact.author_role, version,
                 fact.quote)
        )  # fmt: skip
    for who, gone in promotion.retracted:
        version = gone.evidence[0].version if gone.evidence else 0
        value = value_taken_back(gone)
        lines.append(
            Line("retracted", _name(who), gone.attribute or "", "" if value is None else value,
                 gone.by, version,
                 gone.reason)
        )  # fmt: skip
    lines += _refused(promotion.refused)
    for who, fact in promotion.superseded:
        lines.append(
            Line("superseded", _name(who), fact.attribute, fact.value, fact.author_role, 0,
                 fact.quote)
        )  # fmt: skip
    yield from sorted(lines, key=lambda line: line.version or sys.maxsize)


def _name(entity: Entity) -> str:
    return f"{entity.kind} {entity.id}"


async def _promoted(settings: Settings, session: str, *, dry_run: bool) -> Promotion:
    named = session_named(settings, session)
    servers = servers_of(settings)
    async with Log(settings, servers=servers) as log:
        promoter = Promoter(servers, extracting_of(settings))
        try:
            done = await promoter.promote(named.stream, dry_run=dry_run)
            if not done.promotion.repeated:
                return done.promotion
            # It was promoted before: show what it says all the same.
            return (await promoter.promote(named.stream, dry_run=True)).promotion
        except SessionNotFound:
            raise await no_such_session(log, named) from None
        except StreamDeleted:
            raise CommandFailed(f"session {named.session_id} was deleted") from None


async def _retried(settings: Settings) -> Sequence[Retried]:
    """Promote what failed, and note what became of it, as the role does."""
    from consumers.postgres_pool import PostgresPool  # noqa: PLC0415 - loads what roles need
    from consumers.postgres_promoter import PostgresPromoter  # noqa: PLC0415
    from consumers.promoter import words_of  # noqa: PLC0415
    from streams.ports import OutageError  # noqa: PLC0415

    servers, done = servers_of(settings), list[Retried]()
    extracting = extracting_of(settings)
    try:
        async with (
            PostgresPool(settings, name="promote", size=1) as pool,
            Log(settings, servers=servers),
        ):
            models = PostgresPromoter(pool, extracting.extractor, ConfiguredLimits())
            promoter = Promoter(servers, extracting)
            for each in await models.failures():
                became = await _again(promoter, each.stream, each.version)
                if isinstance(became, Exception):
                    why = words_of(became)
                    await models.failed(each.stream, each.version, why)
                    done.append(Retried(each.stream, "failed", why))
                else:
                    await models.done(each.stream, became)
                    done.append(Retried(each.stream, "completed"))
    except OutageError as error:
        raise Unavailable("a server", error) from error
    return done


async def _again(promoter: Promoter, stream: StreamId, version: Version) -> Version | Exception:
    try:
        return (await promoter.promote(stream)).version
    except Unavailable:
        raise
    except StreamDeleted:
        return version  # nothing is left to learn
    except Exception as error:  # noqa: BLE001 - the others are tried all the same
        return error
