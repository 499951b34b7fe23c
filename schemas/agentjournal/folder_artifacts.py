"""Artifacts in a local folder."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from agentjournal.errors import Unavailable


class FolderStore:
    """Files below a folder; one shows under its name when all of it is on the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, name: str, content: bytes) -> None:
        """Keep `content`. Raises Unavailable when the folder cannot be written."""
        await asyncio.to_thread(self._put, name, content)

    async def get(self, name: str) -> bytes | None:
        """Return what was kept, None when there is nothing. Raises Unavailable."""
        return await asyncio.to_thread(self._get, name)

    def _put(self, name: str, content: bytes) -> None:
        file = self._folder / name
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as draft:
                try:
                    draft.write(content)
                    draft.flush()
                    os.fsync(draft.fileno())
                    Path(draft.name).replace(file)
                    _flush(file.parent)
                except BaseException:
                    Path(draft.name).unlink(missing_ok=True)
                    raise
        except OSError as error:
            raise Unavailable("the artifact store", error) from error

    def _get(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unavailable("the artifact store", error) from error


def _flush(folder: Path) -> None:
    """Bring the names in a folder to the disk: an event will say that the file is there."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
