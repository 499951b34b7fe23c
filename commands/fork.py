"""`fork`: a session that goes on from where another one was."""

from __future__ import annotations

from typing import Annotated

import typer

from agentjournal.log import Log
from agentjournal.settings import find_settings
from commands.printing import print_line
from commands.waiting import wait_for

commands = typer.Typer()


@commands.command()
def fork(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="The session to fork.")],
    *,
    at: Annotated[
        int | None,
        typer.Option("--at", min=1, metavar="VERSION", help="Where to leave it; else its end."),
    ] = None,
    new_id: Annotated[
        str | None, typer.Option("--as", metavar="ID", help="The fork's id; else a new one.")
    ] = None,
) -> None:
    """Begin a session with what SESSION had come to, and print its id. SESSION goes on as it is."""
    print_line(wait_for(_fork(session, at, new_id)))


async def _fork(session: str, at: int | None, new_id: str | None) -> str:
    async with Log(find_settings()) as log:
        return (await log.session(session).fork(at=at, session_id=new_id)).id
