"""What a child is: a command, where and as whom it runs, and how it is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from local.errors import ServerFailed
from local.home import Home

# The marks by which a process is known to be ours after its supervisor is gone.
HOME_MARK = "AGENTJOURNAL_STACK_HOME"
NAME_MARK = "AGENTJOURNAL_STACK_NAME"

# Postgres waits for its clients on SIGTERM and disconnects them on SIGINT.
STOP_SIGNALS = {"postgres": signal.SIGINT}
STOP_S = 20.0


@dataclass(frozen=True, slots=True)
class Account:
    """The operating system user that a program runs as."""

    uid: int
    gid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A command and what it runs with."""

    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict[str, str])  # beside our own
    account: Account | None = None  # None: as the one who starts it


def stop_signal(name: str) -> signal.Signals:
    """Return the signal that ends the child `name` in good order."""
    return STOP_SIGNALS.get(name, signal.SIGTERM)


def spawn(home: Home, name: str, program: Program, log: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the program, marked as `name` of this stack, with its output in `log`.

    Raises ServerFailed when it cannot be run.
    """
    account = program.account
    marks = {HOME_MARK: str(home.path), NAME_MARK: name}
    try:
        return subprocess.Popen(
            program.command,
            cwd=program.folder,
            env={**os.environ, **program.environment, **marks},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches the supervisor, which stops the rest in order
            user=None if account is None else account.uid,
            group=None if account is None else account.gid,
            extra_groups=None if account is None else [],
        )
    except OSError as error:
        raise ServerFailed(name, f"cannot be run: {error}", home.log(name)) from error


def run_once(home: Home, name: str, program: Program) -> None:
    """Run the program to its end. Raises ServerFailed when it reports a failure."""
    with home.open_log(name) as log, spawn(home, name, program, log) as running:
        try:
            status = running.wait()
        except BaseException:
            running.terminate()
            raise
    if status != 0:
        reason = f"ended with status {status} before it had done its work"
        raise ServerFailed(name, reason, home.log(name))
