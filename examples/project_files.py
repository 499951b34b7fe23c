"""The files of a project: what changes in them is recorded with its diff, and can be reverted."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import agentjournal as aj


class Project:
    """A folder that a session's agent works in. Its paths stay inside."""

    def __init__(self, folder: Path, session: aj.Session) -> None:
        self.folder, self._session = folder, session

    def paths(self) -> Sequence[str]:
        """Return the paths of all files, in order."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return sorted(str(path.relative_to(self.folder)) for path in files)

    def read(self, path: str) -> str:
        """Return what is in a file. Raises ToolError when the project has none."""
        return self._inside(path).read_text(encoding="utf-8")

    async def change(self, path: str, text: str, call: aj.Call, *, is_revert: bool = False) -> None:
        """Write a file, and record it as it was and as it is; done again, it changes nothing."""
        recorded = await self._recorded(path)
        if recorded:
            before = await self._session.artifact(recorded[-1])
        else:  # nothing knows it yet: it is kept as it was found
            before = self.read(path).encode()
            await self._session.file_changed(path, before=None, after=before)
        after = text.encode()
        self._replace(path, after)
        if before != after:
            await self._session.file_changed(
                path,
                before=before,
                after=after,
                reason="revert" if is_revert else "edit",
                call_id=call.call_id,
            )

    async def as_found(self, path: str) -> str:
        """Return a file as it was before the session changed it first."""
        recorded = await self._recorded(path)
        return (await self._session.artifact(recorded[0])).decode() if recorded else self.read(path)

    async def _recorded(self, path: str) -> list[str]:
        """Return the digests of what was in a file, one after the other."""
        events = [each.event async for each in self._session.events()]
        changes = [each for each in events if isinstance(each, aj.FileChanged)]
        return [each.artifact for each in changes if each.path == path and each.artifact]

    def _replace(self, path: str, content: bytes) -> None:
        file = self._inside(path)
        draft = file.with_name(f".{file.name}.new")
        draft.write_bytes(content)
        os.replace(draft, file)  # noqa: PTH105 - in one step, so that a kill leaves no half a file

    def _inside(self, path: str) -> Path:
        file = (self.folder / path).resolve()
        if not file.is_relative_to(self.folder.resolve()) or not file.is_file():
            raise aj.ToolError(f"the project has no file {path}")
        return file
