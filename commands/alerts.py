"""`alerts`: what somebody should look at, a line each, and those to come."""

from __future__ import annotations

import re
import shutil
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, TypeAlias, TypeGuard

import typer

from agentjournal.alerts import SEVERITIES, Alert, NoAlert
from agentjournal.errors import Unavailable
from agentjournal.kafka_alerts import AlertReader
from agentjournal.settings import find_settings
from commands.alert_lines import alert_json, alert_line
from commands.harmless import one_line
from commands.printing import print_json_line, print_line, say
from commands.times import moment
from commands.waiting import wait_for

commands = typer.Typer()

_MOST_BACK = 50_000  # records that are looked through
_PIPED_WIDTH = 200
_AGO = re.compile(r"(\d{1,6})([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

Show: TypeAlias = Callable[[Alert], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which alerts are asked for."""

    limit: int
    since: datetime | None = None
    kinds: frozenset[str] | None = None
    tenant: str | None = None

    def has(self, alert: Alert) -> bool:
        """Return whether it is one of them."""
        return (self.kinds is None or alert.kind in self.kinds) and (
            self.tenant is None or alert.tenant == self.tenant
        )


@commands.command()
def alerts(
    *,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what is raised, until Ctrl-C.")
    ] = False,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="A moment, or like 30m, 2h, 3d.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="A,B", help="Only alerts of these kinds.")
    ] = None,
    tenant: Annotated[
        str | None, typer.Option("--tenant", help="Only those of this tenant; else of all.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="How many back at most.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object a line.")] = False,
) -> None:
    """Show the latest alerts of all tenants, a line each, the latest last.

    The topic keeps them for seven days. docs/alerts.md says what each kind means, and what to do.
    """
    wanted = Wanted(limit, _moment(since), _known(kind), tenant)
    try:
        wait_for(_show(wanted, _show_json if as_json else _show_line, follow=follow))
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


async def _show(wanted: Wanted, show: Show, *, follow: bool) -> None:
    async with AlertReader(find_settings()) as reader:
        latest: deque[Alert] = deque(maxlen=wanted.limit)
        async for found in reader.kept(last=_MOST_BACK, since=wanted.since):
            if _is_wanted(found, wanted):
                latest.append(found)
        for alert in latest:
            show(alert)
        if follow:
            await followed(reader, wanted, show)
        elif not latest:
            say("there are no such alerts" if _is_narrow(wanted) else "there are no alerts")


async def followed(reader: AlertReader, wanted: Wanted, show: Show) -> None:
    """Show what comes, for ever. Who watches is told when there may be more than can be seen."""
    is_away = False
    while True:
        found = await reader.poll()
        try:
            if not found:  # so it looks, too, while the broker is away
                await reader.check()
        except Unavailable as trouble:
            if not is_away:
                say(f"{one_line(str(trouble))}; alerts are shown when it is back")
            is_away = True
            continue
        if is_away:
            say("Kafka is back")
        is_away = False
        for each in found:
            if _is_wanted(each, wanted):
                show(each)


def _is_wanted(found: Alert | NoAlert, wanted: Wanted) -> TypeGuard[Alert]:
    if isinstance(found, NoAlert):
        place = f"partition {found.partition}, position {found.position}"
        say(one_line(f"{place} of the topic holds no alert: {found.reason}"))
        return False
    return wanted.has(found)


def _is_narrow(wanted: Wanted) -> bool:
    return not (wanted.since is None and wanted.kinds is None and wanted.tenant is None)


def _show_line(alert: Alert) -> None:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PIPED_WIDTH
    print_line(alert_line(alert, width))


def _show_json(alert: Alert) -> None:
    print_json_line(alert_json(alert))


def _known(kinds: str | None) -> frozenset[str] | None:
    if kinds is None:
        return None
    names = frozenset(name.strip() for name in kinds.split(",") if name.strip())
    for name in sorted(names):
        if name not in SEVERITIES:
            message = f"{name!r} is no kind of alert: there are {', '.join(sorted(SEVERITIES))}"
            raise typer.BadParameter(message, param_hint="--kind")
    return names


def _moment(since: str | None) -> datetime | None:
    if since is None:
        return None
    try:
        if ago := _AGO.fullmatch(since):
            number, unit = ago.groups()
            return datetime.now().astimezone() - timedelta(**{_UNITS[unit]: int(number)})
        return moment(since)
    except (ValueError, OverflowError):
        message = f"{since!r} is no moment like 2026-01-31T12:00, and not like 30m, 2h or 3d"
        raise typer.BadParameter(message, param_hint="--since") from None
