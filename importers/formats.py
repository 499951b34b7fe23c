"""Every format that can be imported, and which one a file is in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from importers.exported import read_exported
from importers.imported import Imported, NotRecognised
from importers.openai_chat import read_openai_chat


class Reader(Protocol):
    """A format: the bytes of a file to sessions, or why they are not in it."""

    def __call__(
        self, raw: bytes, *, name: str, source: str, user: str | None = None
    ) -> Imported | NotRecognised: ...


READERS: Sequence[Reader] = (read_exported, read_openai_chat)


def read_file(
    raw: bytes, *, name: str, source: str, user: str | None = None
) -> Imported | NotRecognised:
    """Return what the first format that knows the bytes makes of them.

    `name` begins the ids of the sessions, `source` is the file's name, `user` whom they belong to.
    """
    reasons: list[str] = []
    for reader in READERS:
        read = reader(raw, name=name, source=source, user=user)
        if isinstance(read, Imported):
            return read
        reasons.append(read.reason)
    return NotRecognised("; ".join(reasons))
