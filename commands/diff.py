"""`diff`: what changed in a session between two places in it."""

from __future__ import annotations

from typing import Annotated

import typer

import agentjournal
from agentjournal.codec import encode
from agentjournal.errors import SessionNotFound
from agentjournal.loading import Place
from agentjournal.settings import find_settings
from commands.diff_text import differences_lines, differences_object
from commands.differences import Differences, differences
from commands.lines import print_styled
from commands.naming import Named, SessionName, no_such_session, session_named
from commands.places import place
from commands.printing import print_json_line
from commands.waiting import wait_for

commands = typer.Typer()

_PLACE = "VERSION|TIME"


@commands.command()
def diff(
    session: SessionName,
    before: Annotated[str, typer.Argument(metavar=_PLACE, help="From here,")],
    after: Annotated[str, typer.Argument(metavar=_PLACE, help="to here.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what changed between two versions: messages, tool calls, title, status and so on.

    The first may be the later one: then what came in between is shown as gone.
    """
    places = place(before, "the first place"), place(after, "the second place")
    found = wait_for(_read(session_named(find_settings(), session), *places))
    if as_json:
        print_json_line(encode(differences_object(found)))
    else:
        print_styled(differences_lines(found))


async def _read(named: Named, before: Place, after: Place) -> Differences:
    async with agentjournal.connect(tenant=named.tenant) as log:
        session = log.session(named.session_id)
        try:
            return differences(await session.load(at=before), await session.load(at=after))
        except SessionNotFound:
            raise await no_such_session(log, named) from None
