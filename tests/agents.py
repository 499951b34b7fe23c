"""Agents for tests: what a scripted model says, and working on a session until it is answered."""

from __future__ import annotations

from collections.abc import Sequence

from agentjournal import Message, MessageAdded, Run, Session, Tool, ToolCallPart
from agentjournal.codec import encode


def asks(call_id: str, tool: str, /, **arguments: object) -> MessageAdded:
    """Return what a model says that wants a tool to be called."""
    text = encode(arguments).decode()
    part = ToolCallPart(call_id=call_id, name=tool, arguments_text=text)
    return MessageAdded(role="assistant", parts=[part], message_id=f"asks-{call_id}")


def says(text: str) -> MessageAdded:
    """Return what a model says at the end of a turn."""
    return MessageAdded(role="assistant", content=text, message_id=f"says-{text}")


async def work(
    session: Session,
    script: Sequence[MessageAdded],
    tools: Sequence[Tool] = (),
    *,
    lease_s: float = 1.0,
) -> Run:
    """Work on a session until it is answered or waits; the model says what the script has next."""
    async with session.resume(lease_s=lease_s, wait_s=3) as run:
        while not run.answered:
            await run.finish_open_calls(list(tools))
            if run.waiting:
                break
            await run.window()
            await run.record(script[len(said(run))])
    return run


def said(run: Run) -> list[Message]:
    """Return what the model of a run has said so far."""
    return [message for message in run.state.messages if message.role == "assistant"]


async def types(session: Session, *kinds: str) -> list[str]:
    """Return the types of a session's events that begin with one of `kinds`."""
    return [each.type async for each in session.events() if each.type.startswith(kinds)]
