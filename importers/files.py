"""Which files an import is about, and what each is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ENDINGS = (".json", ".jsonl")


@dataclass(frozen=True, slots=True)
class File:
    """A file to import. `name` begins the ids of its sessions; one not `is_named` was found."""

    path: Path
    name: str
    is_named: bool


def files_of(paths: Iterable[Path]) -> list[File]:
    """Return the files named, and those with a known ending in or below the folders named.

    A file's name is its stem. Files that share one are told apart by the folders they are in, so
    that their sessions do not meet.
    """
    found: dict[Path, File] = {}
    for path, is_named in _walk(paths):
        where = path.resolve()
        if where not in found or is_named:
            found[where] = File(path, path.stem, is_named)
    return [
        File(file.path, name, file.is_named)
        for file, name in zip(found.values(), _names(list(found)), strict=True)
    ]


def _walk(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    for path in paths:
        if path.is_dir():
            inside = sorted(path.rglob("*"))
            yield from ((each, False) for each in inside if _is_known(each))
        else:
            yield path, True


def _is_known(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS and path.is_file()


def _names(paths: Sequence[Path]) -> list[str]:
    shared = Counter(path.stem for path in paths)
    most = max((len(path.parts) for path in paths), default=0)
    for depth in range(2, most + 1):
        names = [
            path.stem if shared[path.stem] == 1 else "-".join(path.parts[-depth:]) for path in paths
        ]
        if len(set(names)) == len(names):
            return names
    return [path.stem for path in paths]
