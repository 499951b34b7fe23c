"""Which operating system process is which child: pid files that a recycled pid does not fool."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import psutil

from local.home import Home, read_json, write_json

SUPERVISOR = "supervisor"
POLL_S = 0.02
SAME_START_S = 1.0  # the start time of one process is reported with this much play


@dataclass(frozen=True, slots=True)
class Record:
    """A process as it was when it was started."""

    pid: int
    created_s: float  # since the epoch, as the operating system tells it
    ready: bool = True  # of a supervisor: everything it supervises was started


def record_of(pid: int) -> Record | None:
    """Return the record of a process that runs now, None if it has ended."""
    try:
        return Record(pid, psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def write_record(home: Home, name: str, record: Record) -> None:
    """Keep the record of `name` in the stack's folder."""
    write_json(home.record(name), asdict(record))


def living(home: Home, name: str) -> Record | None:
    """Return the record of `name` if that very process is alive, else None."""
    kept = read_json(home.record(name))
    try:
        record = Record(int(kept["pid"]), float(kept["created_s"]), bool(kept["ready"]))
    except (KeyError, TypeError, ValueError):
        return None
    return record if is_alive(record) else None


def is_alive(record: Record) -> bool:
    """Return whether the process runs, and is not another one under the same pid."""
    try:
        found = psutil.Process(record.pid)
        return abs(found.create_time() - record.created_s) < SAME_START_S and not has_ended(found)
    except psutil.Error:
        return False


def has_ended(process: psutil.Process) -> bool:
    """Return whether it does no more work: gone, or never fetched by its parent."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.Error:
        return True


def await_end(processes: Sequence[psutil.Process], timeout_s: float) -> list[psutil.Process]:
    """Return when all have ended, or those that have not when the time is over."""
    deadline = time.monotonic() + timeout_s
    living_on = list(processes)
    while living_on := [each for each in living_on if not has_ended(each)]:
        if time.monotonic() > deadline:
            break
        time.sleep(POLL_S)
    return living_on
