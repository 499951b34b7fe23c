"""The demo: an agent is killed in the middle, twice, goes on, and SQL says what was done.

    python -m examples.demo [FILE…]

FILEs, sessions of other agents, are imported as well. The stack goes on running afterwards.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import tempfile
import time
from asyncio.subprocess import Process
from pathlib import Path

import agentjournal as aj
from examples.broken_project import write_project
from examples.demo_queries import CALLS_PER_TOOL, NO_GAP, ONCE, SLOWEST, TOKENS
from examples.endless_loop import endless_loop
from examples.killing import (
    PATIENCE_S,
    AgentEnded,
    file_filled,
    kill_when,
    start_agent,
    tool_started,
)
from examples.long_talk import long_talk
from examples.remembered import remembered
from examples.terminal import (
    AGENTJOURNAL,
    PYTHON,
    CommandFailed,
    agentjournal,
    heading,
    say,
    show_command,
    typed,
)


class DemoFailed(Exception):
    """Something did not go as the demo promises; the message says what."""


async def demo(files: list[str]) -> None:
    """Run the demo, and import `files`."""
    heading("A stack of your own: Kafka, Postgres, Valkey, and the roles that work with them")
    agentjournal("up", "-d")
    session_id = f"demo-{secrets.token_hex(3)}"
    folder = Path(tempfile.mkdtemp(prefix="agentjournal-demo-"), "project")
    write_project(folder)
    async with aj.connect() as log:
        session = log.session(session_id)
        heading(f"An agent mends the project in {folder}, and is killed twice")
        await killed_twice(session, folder)
        heading("Nothing is lost, and nothing was done twice")
        await done_once(session, folder)
        heading("The session")
        agentjournal("show", session_id)
        heading("A conversation that outgrows its window")
        await long_talk(log)
        heading("What is known of a user in her next session, and where it comes from")
        user = await remembered(log)
        heading("A loop without an end: its limit stops it, and somebody is told")
        await endless_loop(log)
    if files:
        heading("Sessions of other agents")
        try:
            agentjournal("import", *files)
        except CommandFailed as error:
            say(f"{error}: it names above what was left out")
    heading("Questions over all sessions")
    for query in (CALLS_PER_TOOL, SLOWEST, TOKENS):
        agentjournal("sql", query)
    where_next(session_id, folder, user)


async def killed_twice(session: aj.Session, folder: Path) -> None:
    """Kill the agent while a tool runs and after another took effect, then let it finish."""
    agent = await started(session, folder)
    await kill_when(agent, tool_started(session, "run_tests"))
    say("kill -9, since the log says that the tests were started")
    await show_open(session)

    agent = await started(session, folder)
    await kill_when(agent, file_filled(registry_of(folder)))
    say("kill -9, since the version is published, and the answer still on its way to the agent")
    await show_open(session)

    agent = await started(session, folder)
    async with asyncio.timeout(PATIENCE_S):
        status = await agent.wait()
    if status:
        raise DemoFailed(f"the agent ended with status {agent.returncode}")


async def started(session: aj.Session, folder: Path) -> Process:
    """Start the agent, and show how."""
    show_command(PYTHON, "-m", "examples.coding_agent", session.id, str(folder))
    return await start_agent(session.id, folder)


async def show_open(session: aj.Session) -> None:
    """Say which calls have no outcome."""
    for call in (await session.load()).open_calls:
        state = "started, no outcome" if call.attempt else "asked for, not started"
        say(f"recorded of {call.call_id}, {call.tool}: {state}")


async def done_once(session: aj.Session, folder: Path) -> None:
    """Show what was done; raise DemoFailed unless all of it was, and published once."""
    agentjournal("sql", NO_GAP.format(session=session.id))
    agentjournal("sql", ONCE.format(session=session.id))
    say("what was cut off was started again, and ended once; what had ended was left alone")
    calls = (await session.load()).calls.values()
    if cut := [call.call_id for call in calls if call.outcome != "completed"]:
        raise DemoFailed(f"not completed: {', '.join(cut)}")
    published = registry_of(folder).read_text(encoding="utf-8").splitlines()
    say(f"the registry, {registry_of(folder)}, has {len(published)} version: {published[0]}")
    if len(published) != 1:
        raise DemoFailed("it should have been published once")


def registry_of(folder: Path) -> Path:
    """Return the file that stands for the service to which the version is published."""
    return folder.with_name("registry.jsonl")


def where_next(session_id: str, folder: Path, user: str) -> None:
    """Name what to try."""
    heading("Where to look next")
    for arguments, purpose in (
        (("sessions",), "every session, the latest first"),
        (("show", session_id, "--at", "8"), "the session as it was at version 8"),
        (("tail", session_id), "its events, one a line"),
        (("files", session_id), "the files that it changed; `revert` writes them as they were"),
        (("memory", user), "what is known of her now; `--explain seat` shows where from"),
        (("sql", "SELECT * FROM tool_calls"), "any question"),
        (("status",), "what runs, and where"),
        (("top",), "all of it on one screen"),
    ):
        print(" ", AGENTJOURNAL, *map(typed, arguments))
        print(f"      {purpose}")
    print(f"  {folder}\n      what the agent worked on")
    print(f"\nThe stack goes on running; `{AGENTJOURNAL} down` stops it, and its data stays.")


def main() -> int:
    """Run the demo; return the exit status."""
    began_s = time.monotonic()
    try:
        asyncio.run(demo(sys.argv[1:]))
    except (DemoFailed, CommandFailed, AgentEnded, aj.AgentJournalError) as error:
        print(f"\nthe demo failed: {error}", file=sys.stderr)
        print(f"`{AGENTJOURNAL} logs` shows what the stack says", file=sys.stderr)
        return 1
    print(f"This took {time.monotonic() - began_s:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
