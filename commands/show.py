"""`show`: a conversation as a person wants to read it."""

from __future__ import annotations

from typing import Annotated

import typer

import agentjournal
from agentjournal.codec import encode
from agentjournal.errors import SessionNotFound, VersionNotFound
from agentjournal.loading import Place, recorded_after
from agentjournal.settings import find_settings
from agentjournal.state import SessionState
from commands.errors import CommandFailed
from commands.lines import print_styled
from commands.naming import Named, SessionName, no_such_session, session_named
from commands.places import place
from commands.printing import print_json_line
from commands.show_json import transcript_object
from commands.show_text import transcript_lines
from commands.transcript import Transcript
from commands.waiting import wait_for

commands = typer.Typer()


@commands.command()
def show(
    session: SessionName,
    *,
    at: Annotated[
        str | None, typer.Option("--at", metavar="VERSION|TIME", help="As it was then.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Cut no arguments and outputs.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show a conversation: messages, tool calls with arguments and outcome, turns, model calls.

    A time is ISO 8601, like 2026-01-31T12:00; without a zone it is local time.
    """
    shown, last_version = wait_for(
        _read(session_named(find_settings(), session), None if at is None else place(at, "--at"))
    )
    if as_json:
        print_json_line(encode(transcript_object(shown, last_version=last_version)))
    else:
        print_styled(transcript_lines(shown, last_version=last_version, full=full))


async def _read(named: Named, at: Place | None) -> tuple[Transcript, int]:
    """Return the conversation, and the version that its session is at now."""
    async with agentjournal.connect(tenant=named.tenant) as log:
        session = log.session(named.session_id)
        try:
            state = await session.load()
        except SessionNotFound:
            raise await no_such_session(log, named) from None
        if isinstance(at, int) and at > state.version:
            raise VersionNotFound(session.stream, at, state.version)
        shown = Transcript(SessionState(session.stream))
        async for recorded in session.events():
            if recorded.version > state.version or recorded_after(recorded, at):
                break
            shown.apply(recorded)
    if not shown.started_at:
        raise CommandFailed(f"the session has no events yet at {at}")
    return shown, state.version
