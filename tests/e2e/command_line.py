"""The command line `agentjournal` on a stack whose roles only sleep, for tests that use it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.home import Home
from local.status import status_of
from tests import warm

CHECKOUT = Path(__file__).parents[2]
_PROGRAM = Path(__file__).with_name("sleeping_roles.py")
COMMAND = (sys.executable, str(_PROGRAM))


@dataclass(frozen=True)
class CommandLine:
    """The command line, used on the stack of one folder."""

    home: Path

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        folder, program = self.home.parent, str(_PROGRAM)
        return warm.run(arguments, self.environment, 90, folder, program=program)

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(CHECKOUT), str(CHECKOUT / "schemas")])
        return {**os.environ, "AGENTJOURNAL_HOME": str(self.home), "PYTHONPATH": path}

    def status(self) -> dict[str, Any]:
        """Return what `status --json` prints, without the time that a new process takes."""
        return status_of(Home(self.home.resolve())).as_json()

    def pid(self, name: str) -> int | None:
        found = self.status()
        pid: int | None = {**found["services"], **found["roles"]}[name]["pid"]
        return pid

    def address(self, name: str) -> str:
        return str(self.status()["services"][name]["address"])


def started(home: Path) -> Generator[CommandLine]:
    run = CommandLine(home)
    up = run("up", "-d")
    assert up.returncode == 0, up.stdout + up.stderr
    yield run
    assert run("down").returncode == 0


def pids(run: CommandLine) -> set[int]:
    found = run.status()
    return {each["pid"] for each in (*found["services"].values(), *found["roles"].values())}


def kill(run: CommandLine, name: str) -> int:
    """`kill -9` a server or role, and return its pid."""
    pid = run.pid(name)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    return pid


def in_foreground(run: CommandLine) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "up"],
        env=run.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def shown_until(running: subprocess.Popen[str], word: str) -> str:
    """Return what a command prints, up to the line with `word` in it."""
    assert running.stdout is not None
    shown = ""
    for line in running.stdout:
        shown += line
        if word in line:
            return shown
    raise AssertionError(f"it never said {word!r}: {shown}")
