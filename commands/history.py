"""`history`: who did what in a session, when, and why; a line an event."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import agentjournal
from agentjournal import Recorded
from agentjournal.settings import find_settings
from commands.history_lines import history_lines
from commands.lines import print_styled
from commands.naming import Named, SessionName, no_such_session, session_named
from commands.printing import print_json_objects, terminal
from commands.tail_lines import event_json
from commands.waiting import wait_for

commands = typer.Typer()

_PIPED_WIDTH = 200


@commands.command()
def history(
    session: SessionName,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """List the events of a session: when, who (agent and worker), what, and why.

    Why is the correlation id, and the event that caused it, where the writer gave them.
    """
    found = wait_for(_read(session_named(find_settings(), session)))
    if as_json:
        print_json_objects(map(event_json, found))
    else:
        width = terminal().width if sys.stdout.isatty() else _PIPED_WIDTH
        print_styled(history_lines(found, width))


async def _read(named: Named) -> list[Recorded]:
    async with agentjournal.connect(tenant=named.tenant) as log:
        found = [each async for each in log.session(named.session_id).events()]
        if not found:
            raise await no_such_session(log, named)
    return found
