"""A supervisor in a session of its own: started, awaited, stopped."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from local.errors import StartFailed, StopFailed
from local.home import Home, is_supervised, open_home, sole_supervisor
from local.logs import Followed
from local.orphans import stop_orphans
from local.program import STOP_S
from local.records import SUPERVISOR, await_end, living
from local.roles import named_files, python_path

START_S = 300.0  # the first start fetches 44 MB
END_S = 3 * STOP_S  # roles, then servers, then some air
RECORD_S = 5.0  # a supervisor that just took the lock has not told its pid yet
POLL_S = 0.05
LOG_LINE = re.compile(r"\S+ \S+ ([A-Z]+) +(.*)")  # time, level, message

Say = Callable[[str], None]


def supervisor_command(home: Path) -> Sequence[str]:
    """Return the command of a supervisor for `home`."""
    return (sys.executable, "-P", "-m", "local", str(home))


def start_detached(
    home: Path,
    *,
    command: Callable[[Path], Sequence[str]] = supervisor_command,
    timeout_s: float = START_S,
    say: Say,
) -> None:
    """Start a supervisor that outlives this process, and return when everything runs.

    `say` gets its progress. Waits for the one that is there already, if one is. Raises
    HomeUnusable, StartFailed.
    """
    opened = open_home(home)
    progress = _Progress(opened, say)
    started = None if is_supervised(opened) else _spawn(opened, command(opened.path))
    try:
        _await_ready(opened, started, progress, timeout_s)
    except BaseException:
        if started is not None:
            started.terminate()
        raise


def _await_ready(
    home: Home, started: subprocess.Popen[bytes] | None, progress: _Progress, timeout_s: float
) -> None:
    deadline = time.monotonic() + timeout_s
    while (record := living(home, SUPERVISOR)) is None or not record.ready:
        has_ended = started is None or started.poll() is not None
        progress.show()
        if has_ended and not is_supervised(home):
            raise progress.failure("the supervisor ended before everything ran")
        if time.monotonic() > deadline:
            raise progress.failure(f"the stack is not ready after {timeout_s:g} s")
        time.sleep(POLL_S)
    progress.show()


class _Progress:
    """What a supervisor writes into its log while it starts."""

    def __init__(self, home: Home, say: Say) -> None:
        self._log, self._say = home.log(SUPERVISOR), say
        self._followed = Followed(self._log, from_start=False)
        self._last_line, self._error = "", ""

    def show(self) -> None:
        for line in self._followed.new_lines():
            found = LOG_LINE.match(line)
            level, self._last_line = found.groups() if found else ("", line)
            if level == "ERROR":  # that one is raised
                self._error = self._last_line
            else:
                self._say(self._last_line)

    def failure(self, reason: str) -> StartFailed:
        """Return the error that the supervisor told, else `reason` and the last that it said."""
        last = f", after {self._last_line!r}" if self._last_line else ""
        return StartFailed(self._error or f"{reason}{last}; its log is {self._log}")


def stop_stack(home: Path, *, say: Say) -> bool:
    """Stop the supervisor of `home` and whatever it left; return whether there was anything.

    Raises StopFailed.
    """
    if not home.is_dir():
        return False
    opened = Home(home.resolve())
    was_supervised = is_supervised(opened)
    if was_supervised:
        _end_supervisor(opened, say)
    with sole_supervisor(opened):
        left = stop_orphans(opened)
    for name in left:
        say(f"{name}, left by an earlier run, is stopped")
    return was_supervised or bool(left)


def _end_supervisor(home: Home, say: Say) -> None:
    """Ask the supervisor to end, and kill it when it does not: what it leaves is stopped next."""
    _await(lambda: living(home, SUPERVISOR) is not None, RECORD_S)
    for number, within_s in ((signal.SIGTERM, END_S), (signal.SIGKILL, STOP_S)):
        record = living(home, SUPERVISOR)
        if record is not None:
            say(f"stopping the supervisor (pid {record.pid})")
            with suppress(psutil.NoSuchProcess):  # it ended by itself just now
                supervisor = psutil.Process(record.pid)
                supervisor.send_signal(number)
                await_end([supervisor], within_s)
        if _await(lambda: not is_supervised(home), RECORD_S):
            return
    raise StopFailed(f"{home.lock_file} stays locked; the log is {home.log(SUPERVISOR)}")


def _await(holds: Callable[[], bool], timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while not (held := holds()) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return held


def _spawn(home: Home, command: Sequence[str]) -> subprocess.Popen[bytes]:
    with home.open_log(SUPERVISOR) as log:
        return subprocess.Popen(
            command,
            cwd=home.path,
            env={**os.environ, **named_files(), "PYTHONPATH": python_path()},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
