"""Starting the coding agent as a process, and `kill -9` at a moment that can be seen."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import Process
from collections.abc import Coroutine
from pathlib import Path

from agentjournal import Session

PATIENCE_S = 60.0


class AgentEnded(Exception):
    """The agent ended, or did nothing for a long time, before what was waited for."""


async def start_agent(session_id: str, folder: Path, **environment: str) -> Process:
    """Start the agent, `environment` added to ours; it goes on where the session stopped."""
    arguments = ("-m", "examples.coding_agent", session_id, str(folder))
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        cwd=Path(__file__).parents[1],  # where `-m` finds this package
        env={**os.environ, **environment},
    )


async def kill_when(agent: Process, seen: Coroutine[None, None, None]) -> None:
    """`kill -9` the agent as soon as `seen` returns; return when nothing of it runs.

    Raises AgentEnded when it ends before.
    """
    waiting, ended = asyncio.create_task(seen), asyncio.create_task(agent.wait())
    await asyncio.wait({waiting, ended}, timeout=PATIENCE_S, return_when=asyncio.FIRST_COMPLETED)
    if not waiting.done():
        waiting.cancel()
        raise AgentEnded(f"the agent did not get there; its exit status is {agent.returncode}")
    await waiting
    if agent.returncode is None:
        agent.kill()
    await ended


async def tool_started(session: Session, tool: str) -> None:
    """Return once the log says that `tool` was started."""
    async for recorded in session.events(follow=True):
        if recorded.type == "tool.started" and recorded.data["tool"] == tool:
            return


async def file_filled(file: Path) -> None:
    """Return once there is something in `file`."""
    while not _filled(file):  # noqa: ASYNC110 - another process fills it
        await asyncio.sleep(0.01)


def _filled(file: Path) -> bool:
    return file.is_file() and file.stat().st_size > 0
