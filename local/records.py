"""Which operating system process is which child: pid files that a recycled pid does not fool."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from local.home import Home, read_json, write_json

SUPERVISOR = "supervisor"
POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Record:
    """A process as it was when it was started."""

    pid: int
    started: str  # tells it from every other process that had or will have this pid
    ready: bool = True  # of a supervisor: everything it supervises was started


def record_of(pid: int) -> Record | None:
    """Return the record of a process that runs now, None if it has ended."""
    try:
        return Record(pid, _started(pid))
    except psutil.Error:
        return None


def _started(pid: int) -> str:
    """Return when the process was started, by a clock that nobody sets."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # not Linux, or ended
        return str(psutil.Process(pid).create_time())
    ticks = stat.rpartition(")")[2].split()[19]  # field 22: clock ticks since the boot
    return f"{boot} {ticks}"


def write_record(home: Home, name: str, record: Record) -> None:
    """Keep the record of `name` in the stack's folder."""
    write_json(home.record(name), asdict(record))


def living(home: Home, name: str) -> Record | None:
    """Return the record of `name` if that very process is alive, else None."""
    kept = read_json(home.record(name))
    try:
        record = Record(int(kept["pid"]), str(kept["started"]), bool(kept["ready"]))
        is_same = _started(record.pid) == record.started
        return record if is_same and not has_ended(psutil.Process(record.pid)) else None
    except (KeyError, TypeError, ValueError, psutil.Error):
        return None


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
