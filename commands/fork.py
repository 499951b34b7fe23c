"""`fork`: a session that goes on from where another one was."""

from __future__ import annotations

from typing import Annotated

import typer

import agentjournal
from agentjournal.errors import SessionNotFound
from agentjournal.loading import Place
from agentjournal.settings import find_settings
from commands.errors import CommandFailed
from commands.naming import Named, SessionName, no_such_session, session_named
from commands.places import place
from commands.printing import print_line
from commands.waiting import wait_for

commands = typer.Typer()


@commands.command()
def fork(
    session: SessionName,
    *,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="VERSION|TIME", help="Where to leave it; else its end."),
    ] = None,
    new_id: Annotated[
        str | None, typer.Option("--as", metavar="ID", help="The fork's id; else a new one.")
    ] = None,
) -> None:
    """Begin a session with what another had come to, and print its id; both go on by themselves."""
    where = None if at is None else place(at, "--at")
    print_line(wait_for(_fork(session_named(find_settings(), session), where, new_id)))


async def _fork(named: Named, at: Place | None, new_id: str | None) -> str:
    async with agentjournal.connect(tenant=named.tenant) as log:
        try:
            fork = await log.session(named.session_id).fork(at=at, session_id=new_id)
        except SessionNotFound:
            raise await no_such_session(log, named) from None
        except ValueError as error:  # there is nothing at version 0
            raise CommandFailed(str(error)) from None
        return fork.id
