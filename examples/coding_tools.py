"""The tools of the coding agent: each takes the project's folder, an idempotency key, arguments.

A tool that is cut off anywhere and run again under the same key leaves what one run leaves.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from examples.registry import publish


class ToolError(Exception):
    """The tool could not do what it was asked to: the model should read why."""


@dataclass(frozen=True, slots=True)
class Tool:
    """What a tool does, and whether it may be run again when its outcome is not known."""

    run: Callable[..., str]
    effect: Literal["read", "idempotent", "external"]


def list_files(folder: Path, _key: str) -> str:
    """Return the files of the project, one a line."""
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return "\n".join(map(str, files))


def read_file(folder: Path, _key: str, *, path: str) -> str:
    """Return what is in a file."""
    return _inside(folder, path).read_text(encoding="utf-8")


def edit_file(folder: Path, _key: str, *, path: str, old: str, new: str) -> str:
    """Replace the one place in a file that is `old`; where `new` is there already, it was done."""
    file = _inside(folder, path)
    text = file.read_text(encoding="utf-8")
    if text.count(old) == 1:
        draft = file.with_name(f".{file.name}.new")
        draft.write_text(text.replace(old, new), encoding="utf-8")
        os.replace(draft, file)  # noqa: PTH105 - in one step, so that a kill leaves no half a file
    elif new not in text:
        raise ToolError(f"{path} has {text.count(old)} places like that, not one")
    return f"{path} is edited"


def run_tests(folder: Path, _key: str) -> str:
    """Return how the test suite ended, in its own words."""
    # Without compiled files: one edited within the same second would be taken for the old one.
    command = [sys.executable, "-B", "-m", "unittest"]
    ran = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    return f"exit status {ran.returncode}\n{ran.stderr}"


def publish_version(folder: Path, key: str, *, version: str) -> str:
    """Publish the project: what must not happen twice. The registry does it once per key."""
    return publish(folder.parent / "registry.jsonl", version, idempotency_key=key)


def _inside(folder: Path, path: str) -> Path:
    file = (folder / path).resolve()
    if not file.is_relative_to(folder.resolve()) or not file.is_file():
        raise ToolError(f"the project has no file {path}")
    return file


TOOLS: Mapping[str, Tool] = {
    "list_files": Tool(list_files, "read"),
    "read_file": Tool(read_file, "read"),
    "run_tests": Tool(run_tests, "read"),
    "edit_file": Tool(edit_file, "idempotent"),
    "publish": Tool(publish_version, "idempotent"),
}
