"""The stack's folder: where its files are, and the lock that lets one supervisor in."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from agentjournal.settings import STACK_FILE
from local.errors import AlreadyRunning, HomeUnusable

LEAST_FREE_BYTES = 256 * 1024 * 1024  # Postgres and Kafka write about 100 MB before the first event
PROBE_S = 0.3  # `is_supervised` holds the lock for an instant: wait that long before giving up
LOG_BYTES = 10 * 1024 * 1024  # a longer log is put aside as `.log.1` at the next start


@dataclass(frozen=True, slots=True)
class Home:
    """A folder that holds everything about one stack."""

    path: Path

    @property
    def stack_file(self) -> Path:
        return self.path / STACK_FILE

    @property
    def ports_file(self) -> Path:
        return self.path / "ports.json"

    @property
    def lock_file(self) -> Path:
        return self.path / "lock"

    def log(self, name: str) -> Path:
        return self.path / "logs" / f"{name}.log"

    def record(self, name: str) -> Path:
        return self.path / "run" / f"{name}.json"

    def open_log(self, name: str) -> IO[bytes]:
        """Return the log of `name`, open for appending."""
        log = self.log(name)
        if log.is_file() and log.stat().st_size > LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))
        return log.open("ab")


def open_home(path: Path) -> Home:
    """Return the folder, made if it is new. Raises HomeUnusable where nothing can be kept in it."""
    home = Home(path.expanduser().absolute())
    with writing_into(home.path):
        home.path.mkdir(parents=True, exist_ok=True)
        home = Home(home.path.resolve())
        for folder in ("logs", "run"):
            (home.path / folder).mkdir(exist_ok=True)
        (home.path / ".gitignore").write_text("*\n", encoding="utf-8")
    free = shutil.disk_usage(home.path).free
    if free < LEAST_FREE_BYTES:
        raise HomeUnusable(
            home.path, f"{free >> 20} MB are free, and it takes {LEAST_FREE_BYTES >> 20} MB"
        )
    return home


@contextmanager
def writing_into(home: Path) -> Generator[None]:
    """Turn what the file system refuses into HomeUnusable."""
    try:
        yield
    except OSError as error:
        raise HomeUnusable(home, (error.strerror or str(error)).lower()) from error


@contextmanager
def sole_supervisor(home: Home) -> Generator[None]:
    """Hold the folder's lock. Raises AlreadyRunning when another supervisor does."""
    with writing_into(home.path):
        lock = home.lock_file.open("ab")
    with lock:
        deadline = time.monotonic() + PROBE_S
        while not _lock(lock):
            if time.monotonic() > deadline:
                raise AlreadyRunning(home.path)
            time.sleep(0.02)
        yield


def is_supervised(home: Home) -> bool:
    """Return whether a supervisor holds the folder's lock."""
    try:
        lock = home.lock_file.open("rb")
    except OSError:
        return False
    with lock:
        return not _lock(lock)


def _lock(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def write_json(path: Path, value: object) -> None:
    """Write `value` so that a reader sees the old file or the new one, never a part."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with part.open("w", encoding="utf-8") as file:
        json.dump(value, file, indent=2)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in `path`; empty where there is none, or a broken one."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
