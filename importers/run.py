"""Files into the log, one after the other, with an account of each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentjournal.errors import NotCaughtUp, StreamParked
from agentjournal.settings import Settings
from importers.files import File
from importers.formats import read_file
from importers.imported import Imported, LeftOut, NotRecognised, Report
from importers.writing import SessionWriter, Written, session_writer

_SHOWN_S = 30.0


@dataclass(slots=True)
class Account:
    """What became of one file. `not_recognised` says why nothing of it was imported."""

    file: File
    format: str | None = None
    not_recognised: str | None = None
    report: Report = field(default_factory=Report)
    added: int = 0  # events
    there: int = 0  # events that were in the log already

    @property
    def failed(self) -> bool:
        """Whether something that was asked for is not in the log."""
        return bool(self.report.left_out) or (
            self.not_recognised is not None and self.file.is_named
        )

    def as_json(self) -> dict[str, Any]:
        """Return the account in JSON values."""
        found: dict[str, Any] = {"file": str(self.file.path), "format": self.format}
        if self.not_recognised is not None:
            return {**found, "not_recognised": self.not_recognised}
        return {**found, **self.report.as_json(), "added": self.added, "there": self.there}


async def import_files(
    files: Sequence[File],
    settings: Settings,
    *,
    user: str | None,
    accounts: list[Account],
    advance: Callable[[File, float], None],
) -> None:
    """Import `files`; add the account of each to `accounts` as soon as it is begun.

    `advance` is called with a file and the share of it that was done meanwhile. Returns when the
    read models show it all, or are known to be behind: the last account has a note then.
    Raises Unavailable, NotCaughtUp, AppendOutcomeUnknown: importing again goes on from there.
    """
    async with session_writer(settings) as writer:
        for file in files:
            account = Account(file)
            accounts.append(account)
            # In a thread: connections stay alive while a large file is read.
            read = await asyncio.to_thread(_read, account, user)
            if read is None or not read.sessions:
                advance(file, 1.0)
            else:
                await _write(writer, read, account, advance)
        try:
            await writer.shown(_SHOWN_S)
        except (NotCaughtUp, StreamParked) as behind:
            accounts[-1].report.notes.append(f"the read models are behind: {behind}")


def _read(account: Account, user: str | None) -> Imported | None:
    path = account.file.path
    try:
        raw = path.read_bytes()
    except OSError as error:
        left_out = LeftOut("the file", f"cannot be read: {error.strerror}")
        account.report.left_out.append(left_out)
        return None
    read = read_file(raw, name=account.file.name, source=path.name, user=user)
    if isinstance(read, NotRecognised):
        account.not_recognised = read.reason
        return None
    account.format, account.report = read.format, read.report
    return read


async def _write(
    writer: SessionWriter, read: Imported, account: Account, advance: Callable[[File, float], None]
) -> None:
    share = 1.0 / len(read.sessions)

    def done(written: Written) -> None:
        account.added += written.added
        account.there += written.there
        if written.refused is not None:
            left_out = LeftOut(f"session {written.session_id}", written.refused)
            account.report.left_out.append(left_out)
        advance(account.file, share)

    await writer.write(read.sessions, done)
