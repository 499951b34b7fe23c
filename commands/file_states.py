"""Which files there are at a place in a session, by what its events say of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agentjournal.events import FileChanged


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as its last change left it."""

    path: str
    version: int  # of that change
    reason: str
    digest: str | None  # of the content, None where the writer gave none
    artifact: str | None  # the content in the artifact store

    @property
    def content(self) -> str | None:
        """What to ask the artifact store for, None when nothing tells."""
        return self.artifact or self.digest


def file_states(changes: Iterable[tuple[int, FileChanged]]) -> list[FileState]:
    """Return the files that are there after (version, change) pairs, by path."""
    found: dict[str, FileState] = {}
    for version, change in changes:
        name = same_path(change.path)
        if _is_gone(change):
            found.pop(name, None)
        else:
            found[name] = FileState(
                change.path, version, change.reason, change.after_digest, change.artifact
            )
    return [found[name] for name in sorted(found)]


def same_path(path: str) -> str:
    """Return a path in the one way of writing it: `./a//b` is `a/b`; `..` stays."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    return "/" * path.startswith("/") + "/".join(parts)


def _is_gone(change: FileChanged) -> bool:
    if change.reason == "delete":
        return True
    # Put back to what it was before somebody created it: there was a file, and none afterwards.
    nothing_after = change.after_digest is None and change.artifact is None
    return change.reason == "revert" and change.before_digest is not None and nothing_after
