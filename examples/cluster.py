"""Stands for a cluster that takes idempotency keys: a file has what was done, under which key."""

from __future__ import annotations

import json
from pathlib import Path


class StageFailed(Exception):
    """The cluster could not do it, and nothing of it happened."""


class FolderCluster:
    """A cluster that is one file, so that it outlives whoever works on it."""

    def __init__(self, folder: Path, *, fails_in: str | None = None) -> None:
        """`fails_in` names what cannot be done."""
        self._file, self._fails_in = folder / "cluster.jsonl", fails_in

    async def act(self, name: str, /, *, key: str) -> str:
        """Do something once per key, and return its result. Raises StageFailed."""
        if name == self._fails_in:
            raise StageFailed(f"{name}: the release does not answer")
        if await self.found(key) is None:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "name": name}) + "\n")
        return f"{name}: done"

    async def found(self, key: str) -> str | None:
        """Return the result of what was done under a key, None when nothing was."""
        names = [done["name"] for done in self._done() if done["key"] == key]
        return f"{names[0]}: done" if names else None

    def _done(self) -> list[dict[str, str]]:
        if not self._file.exists():
            return []
        return [json.loads(line) for line in self._file.read_text(encoding="utf-8").splitlines()]
