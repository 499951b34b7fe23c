"""`parked` and `redrive`: streams that a read model stopped at, and applying them again."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from agentjournal.errors import Unavailable
from agentjournal.ids import Partition
from agentjournal.settings import Settings, find_settings
from commands.errors import CommandFailed
from commands.kafka_streams import KafkaStreams
from commands.kafka_topic import KafkaTopic
from commands.printing import Column, print_json_array, print_rows
from commands.waiting import wait_for
from projections.folding import Parked

if TYPE_CHECKING:
    from consumers.postgres_redrive import Redriven

commands = typer.Typer()

_PARKED = (
    Column("projection", short=True),
    Column("stream"),
    Column("version", "right", short=True),
    Column("error"),
)
_REDRIVEN = (
    Column("projection", short=True),
    Column("stream"),
    Column("version", "right", short=True),
    Column("applied", "right", short=True),
    Column("still parked because"),
)


@commands.command()
def parked(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """List the streams that a read model stopped at, the version it stopped at, and why.

    Their events are safe in the log; `redrive` applies them once the cause is mended.
    """
    rows = wait_for(_parked())
    if as_json:
        print_json_array({"projection": n, **p._asdict()} for n, p in rows)
    else:
        print_rows(_PARKED, ((n, p.stream, str(p.version), p.error) for n, p in rows))


@commands.command()
def redrive(
    streams: Annotated[
        list[str] | None, typer.Argument(metavar="[STREAM]…", help="All, when none is named.")
    ] = None,
    *,
    projection: Annotated[
        str | None, typer.Option("--projection", help="Only those parked in this read model.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """Apply parked streams again, up to where the read model is, and let them go on.

    The projector may run meanwhile. Status 1 when a stream is still parked.
    """
    done = wait_for(redriven(find_settings(), streams or [], projection))
    if as_json:
        print_json_array(each._asdict() for each in done)
    else:
        print_rows(
            _REDRIVEN,
            ((d.projection, d.stream, str(d.version), str(d.applied), d.error or "") for d in done),
        )
    if any(each.error for each in done):
        sys.exit(1)


async def _parked() -> list[tuple[str, Parked]]:
    from consumers.postgres_pool import PostgresPool  # noqa: PLC0415 - loads what roles need
    from consumers.postgres_redrive import parked_streams  # noqa: PLC0415
    from consumers.roles import known_read_models  # noqa: PLC0415

    async with PostgresPool(find_settings(), name="parked", size=1) as pool:
        found = await parked_streams(pool, list(known_read_models().values()))
    return [(name, each) for name, rows in found.items() for each in rows]


async def redriven(settings: Settings, streams: Sequence[str], only: str | None) -> list[Redriven]:
    """Redrive these streams, or all that are parked, in every read model or `only` one.

    Raises CommandFailed for a stream that is not parked, Unavailable.
    """
    from consumers.postgres_pool import PostgresPool  # noqa: PLC0415 - loads what roles need
    from consumers.postgres_redrive import parked_streams, redrive  # noqa: PLC0415
    from consumers.roles import known_read_models  # noqa: PLC0415
    from streams.ports import OutageError  # noqa: PLC0415

    named = known_read_models()
    if only is not None and only not in named:
        raise CommandFailed(f"there is no read model {only}: there are {', '.join(named)}")
    done: list[Redriven] = []
    try:
        async with (
            PostgresPool(settings, name="redrive", size=1) as pool,
            KafkaTopic(settings, settings.events) as topic,
        ):
            found = await parked_streams(pool, list(named.values()))
            for partition, rows in _by_partition(found, streams, only):
                log = KafkaStreams(topic, partition, {each.stream for _, each in rows})
                done += [await redrive(pool, named[name], each, log) for name, each in rows]
    except OutageError as error:
        raise Unavailable("a server", error) from error
    return done


def _by_partition(
    found: Mapping[str, Sequence[Parked]], streams: Sequence[str], only: str | None
) -> Iterator[tuple[Partition, list[tuple[str, Parked]]]]:
    wanted = [
        (name, each)
        for name, rows in found.items()
        for each in rows
        if (not streams or each.stream in streams) and only in {None, name}
    ]
    if missing := set(streams) - {each.stream for _, each in wanted}:
        raise CommandFailed(f"not parked: {', '.join(sorted(missing))}")
    wanted.sort(key=_partition)
    for partition, group in groupby(wanted, key=_partition):
        yield partition, list(group)


def _partition(row: tuple[str, Parked]) -> Partition:
    return row[1].partition
