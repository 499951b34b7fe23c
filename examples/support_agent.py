"""A support agent that refunds orders, and can be killed at any line.

    python -m examples.payments 8001
    python -m examples.support_agent "Order 4711 came broken, please refund 149.90."
    agentjournal approvals                       # a large refund is somebody's to allow
    agentjournal approve s-42 APPROVAL --by eva
    python -m examples.support_agent             # goes on, as it does after a crash
    python -m examples.support_agent --bye       # ends it, and learns what the customer likes

What it goes by lies in three layers, each a stream of its own: the customer, whom other sessions
know too; the ticket, a task that outlives the session; and the session, with the conversation.
What the customer said in earlier sessions is recalled when one goes on, and learned when it ends.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Protocol

import httpx2

import agentjournal as aj
from examples.support_model import support_model

MUST_ASK_FROM = Decimal(100)
INSTRUCTIONS = "You are a support agent of a shop. Note on the ticket what you did."


@dataclass(frozen=True, slots=True)
class Case:
    """What the agent works on: a conversation with a customer, about a ticket."""

    session: str
    ticket: str
    user: str


class Model(Protocol):
    """A chat model: a call of `openai.chat.completions.create`, for example."""

    async def __call__(self, messages: Sequence[Mapping[str, Any]]) -> Any: ...


async def support(
    log: aj.Log, case: Case, payments: httpx2.AsyncClient, model: Model, text: str | None = None
) -> str | None:
    """Go on until the customer has an answer; return it, or None when an approval is waited for."""
    session = log.session(case.session, user=case.user, agent="support", task=case.ticket)
    tools = tools_for(log.task(case.ticket, agent="support"), payments)
    async with session.resume(lease_s=10, wait_s=30) as run:
        if text is not None:
            await run.say(text, message_id="question")
        recalled = "" if run.answered else await run.session.recall(max_tokens=300)
        while not run.answered:
            await run.finish_open_calls(tools)
            if run.waiting:
                break
            window = await run.window(max_tokens=8_000)
            context = await log.context(session=case.session, task=case.ticket, user=case.user)
            await run.record(await model([briefing(context, recalled), *window.messages]))
        return None if run.waiting else run.state.messages[-1].text


async def goodbye(log: aj.Log, case: Case) -> list[str]:
    """End the conversation, and return what was learned from it.

    Nobody has to ask: the promoter reads every session that has ended, or is idle for long.
    """
    session = log.session(case.session, user=case.user, agent="support", task=case.ticket)
    await session.end()
    promotion = await session.promote()
    return [f"{fact.attribute}: {fact.value}" for _, fact in promotion.learned]


def briefing(context: aj.Context, recalled: str) -> Mapping[str, Any]:
    """Return what the model is told before the conversation: what the other layers know."""
    lines = [INSTRUCTIONS]
    if context.user is not None:
        facts = context.user.facts.values()
        lines += [f"The customer's {fact.attribute}: {fact.value}" for fact in facts]
    if context.task is not None:
        notes = context.task.notes.items()
        lines += [f"On the ticket, {key}: {note.value}" for key, note in notes]
    lines += [recalled] if recalled else []
    return {"role": "system", "content": "\n".join(lines)}


def tools_for(ticket: aj.Task, payments: httpx2.AsyncClient) -> list[aj.Tool]:
    """Return the tools of one case."""

    async def was_refunded(order: int, amount: str, *, call: aj.Call) -> object:  # noqa: ARG001 - as the tool
        """Ask the service about a refund that was cut off: it knows it by its key."""
        found = await payments.get(f"/refunds/{call.idempotency_key}")
        if found.status_code == 404:
            return aj.NOT_DONE
        return found.raise_for_status().json()["receipt"]

    def whether_to_ask(arguments: Mapping[str, Any]) -> str | None:
        amount = money(arguments["amount"])
        return (
            f"Refund {amount} for order {arguments['order']}?" if amount >= MUST_ASK_FROM else None
        )

    # A 5xx says nothing about what happened, so the call is unknown then, and verified.
    @aj.tool(
        effect="external",
        verify=was_refunded,
        approval=whether_to_ask,
        unknown_on=(httpx2.HTTPStatusError,),
    )
    async def refund(order: int, amount: str, *, call: aj.Call) -> str:
        answer = await payments.post(
            "/refunds",
            json={"order": order, "amount": str(money(amount))},
            headers={"Idempotency-Key": call.idempotency_key},
        )
        if answer.is_client_error:
            raise aj.ToolError(f"refused: {answer.text}")
        return str(answer.raise_for_status().json()["receipt"])

    @aj.tool(effect="idempotent")
    async def note_on_ticket(status: str) -> str:
        await ticket.set_note("status", status)
        return "noted"

    return [refund, note_on_ticket]


def money(text: str) -> Decimal:
    """Return an amount. Raises ToolError when it is none: the model reads why."""
    try:
        return Decimal(text)
    except InvalidOperation:
        raise aj.ToolError(f"{text!r} is no amount", type="invalid_arguments") from None


async def main(text: str | None) -> None:
    """Work on one case, with a scripted model."""
    case = Case("s-42", "ticket-9", "u-7")
    payments = httpx2.AsyncClient(base_url="http://127.0.0.1:8001")
    async with aj.connect() as log, payments:
        if text == "--bye":
            print(*await goodbye(log, case), sep="\n")
            return
        answer = await support(log, case, payments, support_model, text)
        print(answer or "somebody must allow this: see `agentjournal approvals`")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else None))
