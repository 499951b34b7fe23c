"""`revert`: the files of a session as they were at a place in it, written into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import agentjournal
from agentjournal import Session
from agentjournal.errors import ArtifactCorrupt, ArtifactNotFound
from agentjournal.loading import Place
from agentjournal.settings import find_settings
from commands.errors import CommandFailed
from commands.file_states import FileState
from commands.files import files_at
from commands.harmless import as_cell
from commands.naming import Named, SessionName, session_named
from commands.places import place
from commands.printing import print_line, say
from commands.waiting import wait_for
from commands.writing_below import NotBelowError, write_below

commands = typer.Typer()


@commands.command()
def revert(
    session: SessionName,
    *,
    to: Annotated[str, typer.Option("--to", metavar="VERSION|TIME", help="As they were then.")],
    into: Annotated[
        Path, typer.Option("--into", metavar="DIR", help="Where to write; new, or empty.")
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Write into DIR though something is in it.")
    ] = False,
) -> None:
    """Write the files of a session as they were, and print their paths.

    Nothing outside DIR is written: a file whose path leads out of it, or whose content is not in
    the artifact store, is named on standard error, and the exit status is 1.
    """
    until = place(to, "--to")
    named = session_named(find_settings(), session)
    _check_folder(into, force=force)
    wait_for(_revert(named, until, into))


def _check_folder(into: Path, *, force: bool) -> None:
    try:
        if not force and into.exists() and any(into.iterdir()):
            raise CommandFailed(f"{into} is not empty: name another folder, or use --force")
    except OSError as error:
        raise CommandFailed(f"{into}: {error.strerror}") from error


def _make_folder(into: Path) -> None:
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandFailed(f"{into}: {error.strerror}") from error


async def _revert(named: Named, at: Place, into: Path) -> None:
    async with agentjournal.connect(tenant=named.tenant) as log:
        states = await files_at(log, named, at)
        _make_folder(into)
        session = log.session(named.session_id)
        written = [await _written(session, state, into) for state in states]
    if not all(written):
        raise CommandFailed(f"{written.count(False)} of {len(written)} files are not written")


async def _written(session: Session, state: FileState, into: Path) -> bool:
    """Write one file; return whether it is written, and say why when it is not."""
    path = as_cell(state.path)
    if state.content is None:
        say(f"{path}: nothing tells its content at version {state.version}")
        return False
    try:
        write_below(into, state.path, await session.artifact(state.content))
    except (ArtifactCorrupt, ArtifactNotFound, NotBelowError) as error:
        say(f"{path}: {as_cell(str(error))}")
        return False
    print_line(path)
    return True
