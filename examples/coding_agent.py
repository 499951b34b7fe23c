"""A coding agent that can be killed at any line, goes on when it is started again, and does
nothing twice.

    python -m examples.coding_agent SESSION FOLDER
    agentjournal files SESSION                              # what it changed
    agentjournal revert SESSION --to VERSION --into DIR     # the files as they were

Its model is scripted, its tools are real. What the model decides is in the log before anything that
it asks for is done; each call is recorded before its effect and after it; and one that was cut off
runs again under the same idempotency key. So the agent keeps nothing in memory that it would miss,
and looks the same whether it starts or goes on.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import agentjournal as aj
from examples.coding_tools import tools_for
from examples.project_files import Project
from examples.scripted_model import ask

TASK = "The tests fail. Find out why, mend it, and publish version 1.0.1."
LEASE_S = 1.0  # how long whoever comes after a crash waits; give real agents more


async def work(session: aj.Session, folder: Path) -> str:
    """Go on until the model has answered; return its answer."""
    async with session.resume(lease_s=LEASE_S, wait_s=60) as run:
        tools = tools_for(Project(folder, run.session))
        await run.say(TASK, message_id="task")
        while not run.answered:
            for call in run.state.open_calls:
                print(f"{call.call_id} {call.tool}, attempt {call.attempt + 1}", flush=True)
            await run.finish_open_calls(tools)
            window = await run.window()
            await run.record(ask(window.messages))
        return run.state.messages[-1].text


async def main(session_id: str, folder: Path) -> None:
    """Work on one session, in one folder."""
    async with aj.connect() as log:
        session = log.session(session_id, user="demo", agent="coding-agent", title=TASK)
        print(await work(session, folder))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
