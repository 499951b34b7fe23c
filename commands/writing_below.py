"""Files written below one folder, and nowhere else, whatever their paths say.

Each step of a path is opened from the one before and no symbolic link is followed, so a link that
is put there meanwhile leads nowhere either.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from commands.file_states import same_path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class NotBelowError(Exception):
    """The file is not written; the message says why."""


def write_below(folder: Path, path: str, content: bytes) -> None:
    """Write a file at `path` in `folder`; it shows whole, or not at all.

    Raises NotBelowError when the path leads out of the folder, or cannot be written.
    """
    *above, name = _steps(path)
    try:
        with _opened(folder, above) as place:
            _refuse_link(name, place)
            _replace(name, content, place)
    except ValueError as error:  # NUL, or half of a surrogate pair
        raise NotBelowError("is no path of a file") from error
    except OSError as error:
        raise NotBelowError(error.strerror or str(error)) from error


def _steps(path: str) -> list[str]:
    if path.startswith("/"):
        raise NotBelowError("is an absolute path")
    steps = same_path(path).split("/")
    if ".." in steps:
        raise NotBelowError("leads out of the folder")
    if steps == [""] or path.endswith(("/", "/.")):
        raise NotBelowError("is no path of a file")
    return steps


@contextmanager
def _opened(folder: Path, steps: Sequence[str]) -> Generator[int]:
    """Give the folder at `steps` as a descriptor; make what is missing."""
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for step in steps:
            try:
                os.mkdir(step, dir_fd=place)
            except FileExistsError:
                _refuse_link(step, place)
            inner = os.open(step, _FOLDER, dir_fd=place)
            os.close(place)
            place = inner
        yield place
    finally:
        os.close(place)


def _refuse_link(name: str, place: int) -> None:
    try:
        found = os.stat(name, dir_fd=place, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise NotBelowError(f"there is a symbolic link at {name}")


def _replace(name: str, content: bytes, place: int) -> None:
    draft = f".{secrets.token_hex(8)}.part"
    try:
        with os.fdopen(os.open(draft, _NEW_FILE, 0o666, dir_fd=place), "wb") as file:
            file.write(content)
        os.replace(draft, name, src_dir_fd=place, dst_dir_fd=place)
    except BaseException:
        try:
            os.unlink(draft, dir_fd=place)
        except FileNotFoundError:
            pass
        raise
