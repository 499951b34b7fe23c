"""`tail`: events as they were recorded, a line each, and those to come."""

from __future__ import annotations

import heapq
import shutil
import sys
from collections import deque
from collections.abc import Callable, Collection
from typing import Annotated, TypeAlias

import typer

import agentjournal
from agentjournal import Recorded
from agentjournal.envelope import parse_record
from agentjournal.events import BUILT_IN, is_custom
from agentjournal.ids import Partition, parse_stream
from agentjournal.settings import Settings, find_settings
from commands.kafka_topic import KafkaTopic, TopicRecord, last_spans
from commands.naming import Named, no_such_session, session_named
from commands.printing import print_json_line, print_line
from commands.tail_lines import event_json, event_line
from commands.waiting import wait_for
from projections.whole_batches import WholeBatches

commands = typer.Typer()

_MOST_BACK = 50_000  # records of a partition that are looked through for events of some types
_POLL_S = 0.5
_PIPED_WIDTH = 200

Show: TypeAlias = Callable[[Recorded], None]


@commands.command()
def tail(
    session: Annotated[str | None, typer.Argument(help="A session's id, or its stream.")] = None,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what is recorded, until Ctrl-C.")
    ] = False,
    types: Annotated[
        str | None, typer.Option("--types", metavar="A,B", help="Only events of these types.")
    ] = None,
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="How many back.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object a line.")] = False,
) -> None:
    """Show the latest events, of one session or of all streams of the tenant, a line each.

    With --types and no session it looks back 50,000 records of each partition at most.
    """
    settings, only = find_settings(), _known(types)
    show = _show_json if as_json else _show_line
    if session is None:
        reading = _tail_all(settings, only, lines, show, follow=follow)
    else:
        reading = _tail_one(session_named(settings, session), only, lines, show, follow=follow)
    try:
        wait_for(reading)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def _known(types: str | None) -> frozenset[str] | None:
    if types is None:
        return None
    names = frozenset(name.strip() for name in types.split(",") if name.strip())
    for name in sorted(names):
        if name not in BUILT_IN and not is_custom(name):
            raise typer.BadParameter(f"{name!r} is no type of event", param_hint="--types")
    return names


def _show_line(recorded: Recorded) -> None:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PIPED_WIDTH
    print_line(event_line(recorded, width))


def _show_json(recorded: Recorded) -> None:
    print_json_line(event_json(recorded))


async def _tail_one(
    named: Named, only: Collection[str] | None, lines: int, show: Show, *, follow: bool
) -> None:
    async with agentjournal.connect(tenant=named.tenant) as log:
        session = log.session(named.session_id)
        latest: deque[Recorded] = deque(maxlen=lines)
        version = 0
        async for recorded in session.events():
            version = recorded.version
            if only is None or recorded.type in only:
                latest.append(recorded)
        if not version and not follow:
            raise await no_such_session(log, named)
        for recorded in latest:
            show(recorded)
        if follow:
            async for recorded in session.events(after=version, follow=True):
                if only is None or recorded.type in only:
                    show(recorded)


async def _tail_all(
    settings: Settings, only: Collection[str] | None, lines: int, show: Show, *, follow: bool
) -> None:
    async with KafkaTopic(settings, settings.events) as topic:
        bounds = await topic.bounds()
        batches = {partition: WholeBatches() for partition in bounds}
        latest: dict[Partition, deque[Recorded]] = {p: deque(maxlen=lines) for p in bounds}
        back = lines if only is None else _MOST_BACK
        async for record in topic.read(last_spans(bounds, back)):
            latest[record.partition].extend(_wanted(record, batches, settings.tenant, only))
        # Merged, not sorted: the order within a partition is that of the log, whatever clocks say.
        merged = list(heapq.merge(*latest.values(), key=lambda recorded: recorded.recorded_at))
        for recorded in merged[max(0, len(merged) - lines) :]:
            show(recorded)
        if not follow:
            return
        topic.assign({partition: span.end for partition, span in bounds.items()})
        while True:
            for record in await topic.poll(timeout_s=_POLL_S):
                for recorded in _wanted(record, batches, settings.tenant, only):
                    show(recorded)


def _wanted(
    record: TopicRecord,
    batches: dict[Partition, WholeBatches],
    tenant: str,
    only: Collection[str] | None,
) -> list[Recorded]:
    """Return what `record` makes whole, repeats dropped, of the tenant and the types."""
    recorded = parse_record(record.value, record.partition, record.position)
    return [
        each
        for each in batches[record.partition].whole([recorded])
        if parse_stream(each.stream)[1] == tenant and (only is None or each.type in only)
    ]
