"""`export`: the events of a session as they stand in the log, a record a line."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Annotated

import click
import typer

import agentjournal
from agentjournal.artifacts import Artifacts, artifacts_of
from agentjournal.envelope import Recorded
from agentjournal.errors import ArtifactNotFound, IntegrityError
from agentjournal.offloading import NoStore, left_values
from agentjournal.settings import Settings, find_settings
from commands.errors import CommandFailed
from commands.export_lines import RecordLines, artifact_line
from commands.harmless import one_line
from commands.naming import Named, SessionName, no_such_session, session_named
from commands.postgres_exported import last_version, stored_events
from commands.printing import say
from commands.waiting import wait_for

commands = typer.Typer()


@commands.command(name="export")
def export_session(
    session: SessionName,
    *,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="A new file; else standard output.")
    ] = None,
) -> None:
    """Write the events of a session as JSON lines: its records, byte for byte as in the log.

    Each is checked against its hash and the one before it. `agentjournal import` reads the file.
    """
    settings = find_settings()
    named = session_named(settings, session)
    with _opened(to) as file:
        count = wait_for(_export(settings, named, file))
    say(one_line(f"session {named.session_id}: {count:,} events, all chained"))


async def _export(settings: Settings, named: Named, file: IO[bytes]) -> int:
    """Write the lines; return how many events there are."""
    last = await last_version(settings, named.stream)
    made, artifacts = RecordLines(named.stream), artifacts_of(settings)
    there: set[str] = set()
    async with aclosing(stored_events(settings, named.stream)) as events:
        async for recorded in events:
            async with aclosing(_contents(recorded, artifacts, there)) as lines:
                async for line in lines:
                    file.write(line + b"\n")
            file.write(made.line(recorded) + b"\n")
    if made.version < last:
        raise IntegrityError(f"{named.stream}: version {made.version + 1} is missing")
    if not made.version:
        async with agentjournal.connect(tenant=named.tenant) as log:
            raise await no_such_session(log, named)
    return made.version


async def _contents(
    recorded: Recorded, artifacts: Artifacts | None, there: set[str]
) -> AsyncGenerator[bytes]:
    """Yield what left an event, unless it is `there` in the file already."""
    for digest in left_values(recorded.raw_data):
        if digest in there:
            continue
        store = artifacts or Artifacts(NoStore())
        try:
            content = await store.read(digest)
        except ArtifactNotFound as error:
            raise CommandFailed(
                f"version {recorded.version} has a large value that is not in the artifact store: "
                f"{error}"
            ) from error
        there.add(digest)
        yield artifact_line(digest, content)


@contextmanager
def _opened(to: Path | None) -> Generator[IO[bytes]]:
    """Give what is written to; a file shows whole, or not at all."""
    if to is None:
        with click.open_file("-", "wb") as out:
            yield out
            out.flush()
        return
    if to.exists():
        raise typer.BadParameter(f"{to} is there already", param_hint="--to")
    try:
        file = NamedTemporaryFile(dir=to.parent, prefix=f".{to.name}-", delete=False)  # noqa: SIM115 - closed below
    except OSError as error:
        raise CommandFailed(f"{to} cannot be written: {error.strerror}") from error
    part = Path(file.name)
    try:
        with file:
            yield file
        part.rename(to)
    finally:
        part.unlink(missing_ok=True)
