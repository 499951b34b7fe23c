"""The tools of the coding agent. Each may be cut off anywhere, and run again under the same key."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import agentjournal as aj
from examples.project_files import Project
from examples.registry import publish as publish_in


def tools_for(project: Project) -> list[aj.Tool]:
    """Return the tools of an agent that works on a project."""

    @aj.tool(effect="read")
    def list_files() -> str:
        return "\n".join(project.paths())

    @aj.tool(effect="read")
    def read_file(path: str) -> str:
        return project.read(path)

    @aj.tool(effect="read")
    def run_tests() -> str:
        return end_of_tests(project.folder)

    @aj.tool(effect="idempotent")
    async def edit_file(path: str, old: str, new: str, *, call: aj.Call) -> str:
        text = project.read(path)
        if text.count(old) == 1:
            text = text.replace(old, new)
        elif new not in text:  # where it is there, the edit was cut off
            raise aj.ToolError(f"{path} has {text.count(old)} places like that, not one")
        await project.change(path, text, call)
        return f"{path} is edited"

    @aj.tool(effect="idempotent")
    async def revert_file(path: str, *, call: aj.Call) -> str:
        await project.change(path, await project.as_found(path), call, is_revert=True)
        return f"{path} is as it was"

    @aj.tool(effect="idempotent")  # it is, by its key
    def publish(version: str, *, call: aj.Call) -> str:
        registry = project.folder.parent / "registry.jsonl"
        return publish_in(registry, version, idempotency_key=call.idempotency_key)

    return [list_files, read_file, run_tests, edit_file, revert_file, publish]


def end_of_tests(folder: Path) -> str:
    """Return how the test suite ended, in its own words."""
    # Without compiled files: one edited within the same second would be taken for the old one.
    command = [sys.executable, "-B", "-m", "unittest"]
    ran = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    return f"exit status {ran.returncode}\n{ran.stderr}"
