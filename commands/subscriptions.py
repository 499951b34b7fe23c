"""`subscriptions`: services that read the log, how far they are, and what they stopped at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import typer

from agentjournal.settings import Settings, find_settings
from agentjournal.subscriptions import Parked
from commands.harmless import one_line
from commands.kafka_topic import KafkaTopic
from commands.printing import Column, print_json_array, print_rows, say
from commands.waiting import wait_for

commands = typer.Typer()

_GROUPS = (
    Column("service"),
    Column("processes", "right", short=True),
    Column("behind", "right", short=True),
    Column("parked", "right", short=True),
)
_PARKED = (
    Column("stream"),
    Column("version", "right", short=True),
    Column("type", short=True),
    Column("attempts", "right", short=True, optional=True),
    Column("error"),
)


class Subscription(NamedTuple):
    """A service or another subscriber: how many events it is behind, and streams it stopped at."""

    service: str
    processes: int
    behind: int
    parked: int


@commands.command()
def subscriptions(
    service: Annotated[
        str | None, typer.Argument(metavar="[SERVICE]", help="List what this one stopped at.")
    ] = None,
    streams: Annotated[
        list[str] | None, typer.Argument(metavar="[STREAM]…", help="Those to handle again.")
    ] = None,
    *,
    redrive: Annotated[
        bool, typer.Option("--redrive", help="Have them handled again, all or those named.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """List who reads the log and how far they are; or the sessions that a service stopped at.

    With --redrive the service handles them from where it stopped, now or when it is started.
    """
    if service is None:
        if redrive:
            raise typer.BadParameter("--redrive goes with the name of a service")
        _print_subscriptions(wait_for(_subscriptions(find_settings())), as_json=as_json)
        return
    if streams and not redrive:
        raise typer.BadParameter("streams go with --redrive")
    found = wait_for(_parked(find_settings(), service, streams or [], redrive=redrive))
    if as_json:
        print_json_array(each._asdict() for each in found)
    else:
        print_rows(_PARKED, map(_parked_row, found))
    if not found:
        say(f"{one_line(service)} has stopped at nothing; `agentjournal subscriptions` lists all")
    elif redrive:
        say(f"asked {service} for {len(found)}: it goes on with them now, or when it is started")


def _print_subscriptions(found: Sequence[Subscription], *, as_json: bool) -> None:
    if as_json:
        print_json_array(each._asdict() for each in found)
    else:
        print_rows(_GROUPS, (list(map(str, each)) for each in found))


def _parked_row(parked: Parked) -> list[str]:
    return [
        parked.stream,
        str(parked.version),
        parked.type,
        str(parked.attempts),
        parked.error,
    ]


async def _subscriptions(settings: Settings) -> list[Subscription]:
    from agentjournal.kafka_parking import KafkaParking  # noqa: PLC0415 - loads a driver
    from commands.kafka_groups import groups_of  # noqa: PLC0415

    parking = KafkaParking(settings, None)
    try:
        parked: Counter[Any] = Counter(each.service for each in await parking.listed())
    finally:
        await parking.close()
    groups = {each.name: each for each in await groups_of(settings)}
    async with KafkaTopic(settings, settings.events) as topic:
        bounds = await topic.bounds()
    found: list[Subscription] = []
    for name in sorted(groups.keys() | parked.keys()):
        group = groups.get(name)
        places = {} if group is None else group.places
        behind = sum(span.end - places.get(each, span.start) for each, span in bounds.items())
        found.append(Subscription(name, group.members if group else 0, behind, parked[name]))
    return found


async def _parked(
    settings: Settings, service: str, streams: Sequence[str], *, redrive: bool
) -> list[Parked]:
    from agentjournal import Log  # noqa: PLC0415 - loads what a client needs

    async with Log(settings) as log:
        named = log.service(service)
        return await named.redrive(*streams) if redrive else await named.parked()
