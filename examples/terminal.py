"""What the demo prints, and the commands that it shows and runs."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

PYTHON = os.path.relpath(sys.executable)
AGENTJOURNAL = os.path.relpath(Path(sys.executable).with_name("agentjournal"))


class CommandFailed(Exception):
    """A command of the demo did not do what it should; what it printed says why."""


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n── {text}", flush=True)


def say(text: str) -> None:
    """Print what just happened."""
    print(f"  {text}", flush=True)


def agentjournal(*arguments: str) -> None:
    """Show a command, and run it. Raises CommandFailed."""
    show_command(AGENTJOURNAL, *arguments)
    status = subprocess.run([AGENTJOURNAL, *arguments], check=False).returncode
    if status:
        raise CommandFailed(f"`agentjournal {arguments[0]}` ended with status {status}")


def show_command(*words: str) -> None:
    """Print a command as it would be typed."""
    print("\n$", *map(typed, words), flush=True)


def typed(word: str) -> str:
    """Return a word as one would type it in a shell; SQL stays readable."""
    return f'"{word}"' if " " in word and not set(word) & set('"$`\\!') else shlex.quote(word)
