"""`files`: which files a session's agent had, now or at a place in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

import agentjournal
from agentjournal import Session
from agentjournal.codec import encode
from agentjournal.errors import ArtifactCorrupt, ArtifactNotFound, NotConfigured, VersionNotFound
from agentjournal.events import FileChanged
from agentjournal.loading import Place, recorded_after
from agentjournal.log import Log
from agentjournal.settings import find_settings
from commands.file_states import FileState, file_states
from commands.naming import Named, SessionName, no_such_session, session_named
from commands.places import place
from commands.printing import Column, print_json_objects, print_rows
from commands.waiting import wait_for

commands = typer.Typer()

_COLUMNS = (
    Column("path"),
    Column("version", "right", short=True),
    Column("reason", short=True),
    Column("size", "right", short=True),
    Column("digest", optional=True),
)


@commands.command()
def files(
    session: SessionName,
    *,
    at: Annotated[
        str | None, typer.Option("--at", metavar="VERSION|TIME", help="As they were then.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """List the files that the agent of a session had: what changed each last, size and digest.

    The size is known of files whose content is in the artifact store.
    """
    until = None if at is None else place(at, "--at")
    found = wait_for(_read(session_named(find_settings(), session), until))
    if as_json:
        print_json_objects(encode(_object(state, size)) for state, size in found)
    else:
        print_rows(_COLUMNS, [_row(state, size) for state, size in found])


async def files_at(log: Log, named: Named, at: Place | None) -> list[FileState]:
    """Return the files at a place. Raises CommandFailed without the session, VersionNotFound."""
    changes: list[tuple[int, FileChanged]] = []
    session, last = log.session(named.session_id), 0
    async for recorded in session.events():
        last = recorded.version
        if recorded.type == FileChanged.type and not recorded_after(recorded, at):
            event = recorded.event
            if isinstance(event, FileChanged):
                changes.append((recorded.version, event))
    if not last:
        raise await no_such_session(log, named)
    if isinstance(at, int) and at > last:
        raise VersionNotFound(session.stream, at, last)
    return file_states(changes)


async def _read(named: Named, at: Place | None) -> list[tuple[FileState, int | None]]:
    async with agentjournal.connect(tenant=named.tenant) as log:
        session = log.session(named.session_id)
        return [(state, await _size(session, state)) for state in await files_at(log, named, at)]


async def _size(session: Session, state: FileState) -> int | None:
    if state.content is None:
        return None
    try:
        return len(await session.artifact(state.content))
    except (ArtifactCorrupt, ArtifactNotFound, NotConfigured):
        return None


def _row(state: FileState, size: int | None) -> Sequence[str]:
    shown = "-" if size is None else f"{size:,}"
    return state.path, str(state.version), state.reason, shown, state.digest or "-"


def _object(state: FileState, size: int | None) -> dict[str, object]:
    return {
        "path": state.path,
        "version": state.version,
        "reason": state.reason,
        "size": size,
        "digest": state.digest,
        "artifact": state.artifact,
    }
