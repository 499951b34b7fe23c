"""An agent of twelve steps with external effects; its model says what it always says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import agentjournal
from agentjournal import Log, MessageAdded, Part, ToolCallPart
from agentjournal.settings import Settings
from tests.crash.agents.payments import ask

ROUNDS = 6
STEPS = 2 * ROUNDS
LEASE_S = 0.4


def paying_tool(port: int) -> agentjournal.Tool:
    """Return a tool that charges an order, and finds out by its key whether it did."""

    async def find(order: str, *, call: agentjournal.Call) -> object:
        return await ask(port, "find", call.idempotency_key, order) or agentjournal.NOT_DONE

    @agentjournal.tool(effect="external", verify=find)
    async def pay(order: str, *, call: agentjournal.Call) -> str:
        return await ask(port, "charge", call.idempotency_key, order) or "no receipt"

    return pay


def model(messages: Sequence[Any]) -> MessageAdded:
    """Return what the model says to a window: two orders a round, then that all is paid."""
    said = sum(message["role"] == "assistant" for message in messages)
    if said == ROUNDS:
        return MessageAdded(role="assistant", content="All is paid.", message_id="m-done")
    parts: list[Part] = [
        ToolCallPart(call_id=f"c-{n}", name="pay", arguments_text=f'{{"order": "o-{n}"}}')
        for n in (2 * said, 2 * said + 1)
    ]
    return MessageAdded(role="assistant", parts=parts, message_id=f"m-{said}")


async def agent(settings: Settings, session_id: str, port: int) -> None:
    """Pay everything, or go on with it."""
    async with Log(settings) as log:
        session = log.session(session_id, user="u-7", agent="payer")
        async with session.resume(lease_s=LEASE_S, wait_s=30) as run:
            await run.say("Pay everything, please.", message_id="m-user")
            while not run.answered:
                await run.finish_open_calls([paying_tool(port)])
                window = await run.window(max_tokens=8_000)
                await run.record(model(window.messages))
