"""`rebuild`: a read model is built anew beside the live one, compared, and takes its place."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from agentjournal.errors import Unavailable
from agentjournal.settings import Settings, find_settings
from commands.building import building_progress
from commands.errors import CommandFailed
from commands.printing import print_json_array, print_line, say
from commands.waiting import wait_for

if TYPE_CHECKING:
    from consumers.postgres_rebuild import Rebuilt
    from projections.projection import Projection

commands = typer.Typer()

ALL = "all"
EMBEDDINGS = "embeddings"


@commands.command()
def rebuild(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A read model, or `all`.")],
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Only compare; exit with 1 if there is a difference.")
    ] = False,
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Only drop the tables that were replaced before.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False,
) -> None:
    """Build a read model anew from the log, and let readers see it instead of the live one.

    The live one goes on meanwhile, and readers see either the one or the other. The old tables stay
    until they are dropped with --drop-old. What was interrupted goes on where it was.
    """
    if check and drop_old:
        raise typer.BadParameter("--check and --drop-old exclude each other")
    if drop_old:
        for line in wait_for(_drop_old(name)):
            print_line(line)
        return
    done = wait_for(rebuilt(find_settings(), name, check=check))
    if as_json:
        print_json_array(_as_json(each) for each in done)
    else:
        for line in (line for each in done for line in _lines(each)):
            print_line(line)
    if check and any(each.differences != [] for each in done):
        sys.exit(1)


async def rebuilt(settings: Settings, name: str, *, check: bool) -> Sequence[Rebuilt]:
    """Rebuild one read model, or all but vectors.

    Raises CommandFailed for another name, or where there can be no vectors; Unavailable.
    """
    from consumers.filling import Fillers, log_errors_only  # noqa: PLC0415 - loads what roles need
    from consumers.indexer import has_vectors, models_of, most_records  # noqa: PLC0415
    from consumers.kafka_log_reader import KafkaLogReader  # noqa: PLC0415
    from consumers.postgres_pool import PostgresPool  # noqa: PLC0415
    from consumers.postgres_rebuild import Rebuild  # noqa: PLC0415
    from streams.ports import OutageError  # noqa: PLC0415

    projections = _named(name)
    log_errors_only()
    try:
        async with (
            PostgresPool(settings, name="rebuild", size=6) as pool,
            KafkaLogReader(settings, most_records=most_records(projections, 10_000)) as log,
        ):
            if name == EMBEDDINGS and not await has_vectors(pool):
                raise CommandFailed("Postgres holds no vectors: it needs pgvector")
            with building_progress() as report:
                models = models_of(pool, projections)
                build = Rebuild(pool, log, report, filler=Fillers(settings), models=models)
                return await build.run(projections, check=check)
    except OutageError as error:
        raise Unavailable("a server", error) from error


async def _drop_old(name: str) -> Sequence[str]:
    from consumers.postgres_pool import PostgresPool  # noqa: PLC0415 - loads what roles need
    from consumers.postgres_replaced import drop_replaced  # noqa: PLC0415

    async with PostgresPool(find_settings(), name="rebuild", size=1) as pool:
        dropped = await drop_replaced(pool, _named(name))
    if not dropped:
        say("nothing was replaced since the last time")
    return [f"{each}: dropped generation {number}" for each, number in dropped]


def _named(name: str) -> Sequence[Projection]:
    from consumers.roles import READ_MODELS, known_read_models  # noqa: PLC0415 - loads what roles need

    if name == ALL:
        return READ_MODELS
    known = known_read_models()
    if name in known:
        return [known[name]]
    if name == EMBEDDINGS:
        raise CommandFailed("vectors need a model: pip install 'agentjournal[recall]'")
    raise CommandFailed(f"there is no read model {name}: there are {', '.join(known)}, and all")


def _lines(done: Rebuilt) -> list[str]:
    what = "is live now" if done.switched else "was compared and dropped again"
    lines = [f"{done.projection}: generation {done.generation} {what}, {done.events:,} events read"]
    if done.differences is None:
        lines.append("  not compared: the live one was made by other code, or from another log")
    elif not done.differences:
        lines.append("  equal to the one that was live")
    else:
        lines += [f"  {each}" for each in done.differences]
    return lines


def _as_json(done: Rebuilt) -> dict[str, object]:
    differences = (
        None
        if done.differences is None
        else [
            {
                "table": d.table,
                "rows": d.rows,
                "key": d.key,
                "columns": d.columns,
                "only_in": d.only_in,
            }
            for d in done.differences
        ]
    )
    return {
        "projection": done.projection,
        "generation": done.generation,
        "events": done.events,
        "switched": done.switched,
        "differences": differences,
    }
