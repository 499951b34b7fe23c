"""The command `agentjournal`, used as from a shell, on servers that run already.

It is the installed one where it is started, or has a terminal; where it only runs to its end, it is
forked from a process that has it loaded.
"""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass
from pathlib import Path

from agentjournal.settings import Settings
from tests import warm
from tests.servers import addresses_of

COMMAND = str(Path(sys.executable).with_name("agentjournal"))
_TIMEOUT_S = 90


@dataclass(frozen=True)
class Console:
    """The command with the addresses of `settings` in its environment."""

    settings: Settings

    @property
    def environment(self) -> dict[str, str]:
        local = {"TZ": "UTC", "TERM": "xterm-256color"}
        return os.environ | addresses_of(self.settings) | local

    def __call__(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the command with pipes for its output, as `agentjournal … | cat`."""
        return warm.run(arguments, {**self.environment, **environment}, _TIMEOUT_S)

    def output(self, *arguments: str) -> str:
        """Return what the command prints; it must succeed, and say nothing else."""
        done = self(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def failure(self, *arguments: str, status: int = 1, **environment: str) -> str:
        """Return what the command says on standard error when it fails, and prints nothing."""
        done = self(*arguments, **environment)
        assert (done.returncode, done.stdout) == (status, ""), done
        return done.stderr

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the command, its output in pipes."""
        return subprocess.Popen(
            [COMMAND, *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def on_terminal(self, *arguments: str, columns: int = 80) -> str:
        """Return what the command writes to a terminal; it must succeed."""
        ours, theirs = pty.openpty()
        try:
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            with subprocess.Popen(
                [COMMAND, *arguments], env=self.environment, stdout=theirs, stdin=theirs
            ) as process:
                os.close(theirs)
                written = b"".join(iter(lambda: _read(ours), b""))
                assert process.wait(_TIMEOUT_S) == 0
        finally:
            os.close(ours)
        return written.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other end is closed
        return b""
