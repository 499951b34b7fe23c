"""How commands are told which stream or session is meant."""

from __future__ import annotations

import difflib
from typing import Annotated, NamedTuple

import typer

from agentjournal import Log
from agentjournal.errors import AppendRejected
from agentjournal.ids import StreamId, parse_stream, stream_id
from agentjournal.settings import Settings
from commands.errors import CommandFailed
from commands.harmless import one_line

SessionName = Annotated[str, typer.Argument(help="A session's id, or its stream.")]
OneOrAll = Annotated[
    str | None, typer.Argument(help="A session's id, or its stream; else all of the tenant.")
]

_RECENT = 1_000  # sessions among which a similar id is looked for
_MOST_HINTS = 3


class Named(NamedTuple):
    """A session by its tenant and id."""

    tenant: str
    session_id: str

    @property
    def stream(self) -> StreamId:
        return stream_id("session", self.tenant, self.session_id)


def session_named(settings: Settings, text: str) -> Named:
    """Return the session whose stream (`session/acme/s-1`) or id (`s-1`) is `text`."""
    try:
        kind, tenant, name = parse_stream(text)
    except AppendRejected:
        kind, tenant, name = "", settings.tenant, text
    if kind not in {"", "session"}:
        return Named(settings.tenant, text)
    named = Named(tenant, name)
    _ = named.stream  # refuses what can be no id
    return named


def stream_named(settings: Settings, text: str) -> StreamId:
    """Return the stream `text`, or the stream of the session whose id it is."""
    try:
        parse_stream(text)
    except AppendRejected:
        return stream_id("session", settings.tenant, text)
    return StreamId(text)


async def no_such_session(log: Log, named: Named) -> CommandFailed:
    """Return the error that says so, with the ids that look alike."""
    ids = [each.session_id async for each in log.sessions(limit=_RECENT)]
    alike = difflib.get_close_matches(named.session_id, ids, _MOST_HINTS, cutoff=0.5)
    start = f"there is no session {named.session_id} of tenant {named.tenant}"
    if alike:
        return CommandFailed(one_line(f"{start}; is it {' or '.join(alike)}?"))
    return CommandFailed(one_line(f"{start}; `agentjournal sessions` lists what there is"))
