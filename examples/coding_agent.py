"""A coding agent that can be killed at any line, goes on when it is started again, and does
nothing twice.

    python -m examples.coding_agent SESSION FOLDER

Its model is scripted, its tools are real. Three rules make it safe to kill:

1. A decision of the model is in the log before anything that it asks for is done.
2. `tool.started` is in the log before a tool runs, the outcome right after it has run.
3. A tool that was started and has no outcome runs again, under the same idempotency key.

It keeps nothing in memory that it would miss, so it looks the same whether it starts or goes on.
One process at a time works on a session.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import agentjournal as aj
from examples.coding_tools import TOOLS, ToolError
from examples.scripted_model import MODEL, Response, ask

TASK = "The tests fail. Find out why, mend it, and publish version 1.0.1."


async def work(session: aj.Session, folder: Path) -> str:
    """Go on until the model has answered; return its answer."""
    state = await begun(session)
    while not answered(state):
        for call in state.open_calls:
            await run(session, call, folder)
        window = await session.window()
        response = ask(window.messages)
        await session.append(decided(response), expected_version=window.version)
        state = await session.load()
    return state.messages[-1].text


async def begun(session: aj.Session) -> aj.SessionState:
    """Return what the session has come to; a new one begins with the task."""
    try:
        return await session.load()
    except aj.SessionNotFound:
        task = aj.MessageAdded(role="user", content=TASK)
        await session.append(task, expected_version=0)
        return await session.load()


def answered(state: aj.SessionState) -> bool:
    """Return whether the model has spoken last, and asks for nothing."""
    last = state.messages[-1]
    return last.role == "assistant" and not last.tool_calls


def decided(response: Response) -> Sequence[aj.Event]:
    """Return a response of the model as events: what it says and asks for, and what it took."""
    called = aj.ModelCalled(
        provider="script",
        request_model=MODEL,
        input_tokens=response.input_tokens,
        output_tokens=response.output_tokens,
        duration_ms=response.duration_ms,
    )
    said = aj.MessageAdded(
        role="assistant",
        parts=[aj.TextPart(text=response.text), *response.calls],
        model_call_id=called.model_call_id,
    )
    return [said, called]


async def run(session: aj.Session, call: aj.ToolCall, folder: Path) -> None:
    """Run a tool call that has no outcome, whether it was started before or not."""
    tool = TOOLS[call.tool]
    if call.attempt and tool.effect == "external":
        raise SystemExit(f"{call.call_id} was started and may have taken effect: look before")
    attempt = call.attempt + 1
    key = call.idempotency_key or digest(session.stream, call.call_id)
    started = aj.ToolStarted(
        call_id=call.call_id,
        tool=call.tool,
        arguments_text=call.arguments_text,
        arguments_digest=aj.arguments_digest(call.tool, call.arguments),
        effect=tool.effect,
        idempotency_key=key,
        attempt=attempt,
        lease_s=60,
    )
    await session.append(started)
    print(f"{call.call_id} {call.tool}, attempt {attempt}", flush=True)
    began_s = time.monotonic()
    try:
        output = await asyncio.to_thread(tool.run, folder, key, **call.arguments)
    except ToolError as error:
        failure = aj.ToolFailure(message=str(error))
        await session.append(aj.ToolFailed(call_id=call.call_id, attempt=attempt, error=failure))
        return
    completed = aj.ToolCompleted(
        call_id=call.call_id,
        attempt=attempt,
        output=output,
        duration_ms=round((time.monotonic() - began_s) * 1_000),
    )
    await session.append(completed)


def digest(*parts: str) -> str:
    """Return the same text for the same parts, always."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


async def main(session_id: str, folder: Path) -> None:
    """Work on one session, in one folder."""
    async with aj.connect() as log:
        session = log.session(session_id, user="demo", agent="coding-agent", title=TASK)
        print(await work(session, folder))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
