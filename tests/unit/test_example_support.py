"""The support agent of the examples: killed at each await it pays once, and only what it may."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2

import agentjournal as aj
from agentjournal.testing import MemoryLog, crash_everywhere, memory_log
from examples.payments import Payments, payment_service
from examples.support_agent import Case, goodbye, support
from examples.support_model import support_model
from tests.layers import about, fact

CASE = Case("s-42", "ticket-9", "u-7")
SMALL = "Order 4711 came broken, please refund 12.50."
LARGE = "Order 4711 came broken, please refund 149.90."


class Line(httpx2.AsyncBaseTransport):
    """The way to the service: the agent waits until a request has come, and an answer come back."""

    def __init__(self, payments: Payments, *, loses: str = "") -> None:
        """Answers to requests of the method `loses` are lost."""
        self._service = httpx2.ASGITransport(app=payment_service(payments))
        self._loses = loses

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        await asyncio.sleep(0)
        response = await self._service.handle_async_request(request)
        await asyncio.sleep(0)
        return httpx2.Response(502) if request.method == self._loses else response


def client_of(payments: Payments, *, loses: str = "") -> httpx2.AsyncClient:
    """Connect to the service, which runs here."""
    line = Line(payments, loses=loses)
    return httpx2.AsyncClient(transport=line, base_url="http://payments")


async def answered(log: aj.Log, client: httpx2.AsyncClient, *, grants: bool = True) -> str:
    """Let the agent work, and a person answer what it asks, until the customer has an answer."""
    text: str | None = LARGE
    while (answer := await support(log, CASE, client, support_model, text)) is None:
        session, text = log.session(CASE.session), None
        for each in (await session.load()).approvals.values():
            decide = session.grant if grants else session.deny
            await decide(each.approval_id, by="eva")
    return answer


async def test_a_small_refund_is_paid_once_wherever_it_is_killed() -> None:
    payments = Payments()

    async with client_of(payments) as client:

        async def main(log: MemoryLog) -> None:
            await support(log, CASE, client, support_model, SMALL)

        report = await crash_everywhere(main, effects=payments)
    assert list(payments) == ["12.50 for order 4711"]
    assert any(" in handle_async_request" in place for place in report.places)
    assert any(place.endswith(" in support") for place in report.places)


async def test_a_large_refund_is_paid_once_when_it_was_allowed() -> None:
    payments = Payments()

    async with client_of(payments) as client:

        async def main(log: MemoryLog) -> None:
            await answered(log, client)

        assert await crash_everywhere(main, effects=payments)
        assert list(payments) == ["149.90 for order 4711"]
        assert await crash_everywhere(main, effects=payments, kills=2, limit=5)


async def test_a_refund_that_was_denied_is_not_paid_and_the_customer_is_told() -> None:
    payments = Payments()
    async with client_of(payments) as client, memory_log() as log:
        assert await answered(log, client, grants=False) == "I may not refund this."
    assert list(payments) == []


async def test_what_other_sessions_learned_and_what_is_on_the_ticket_is_known() -> None:
    payments, seen = Payments(), list[str]()

    async def model(messages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        seen.append(messages[0]["content"])
        return await support_model(messages)

    async with client_of(payments) as client, memory_log() as log:
        await about(log, "u-7").append(fact("f-1", "language", "de"))
        answer = await support(log, CASE, client, model, SMALL)
        assert answer == "Der Betrag ist erstattet. Entschuldigung!"
        assert (await log.task("ticket-9").notes()) == {
            "status": "12.50 for order 4711 is paid back"
        }
    assert "The customer's language: de" in seen[0]
    assert "On the ticket, status: 12.50 for order 4711 is paid back" in seen[-1]


async def test_what_a_customer_likes_is_learned_at_the_end_and_known_in_her_next_session() -> None:
    payments, seen = Payments(), list[str]()

    async def model(messages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        seen.append(messages[0]["content"])
        return await support_model(messages)

    async with client_of(payments) as client, memory_log() as log:
        first = f"{SMALL} Please always write to me in German."
        assert await support(log, CASE, client, model, first) == "It is refunded. Sorry!"
        assert not any("German" in each for each in seen)  # what it says itself is in the window
        assert await goodbye(log, CASE) == [
            "order/4711/last_action: refund",
            "reply_language: German",
        ]
        next_case = Case("s-43", "ticket-10", "u-7")
        answer = await support(log, next_case, client, model, "Order 4711 is broken again: 7.00.")
        assert answer == "Der Betrag ist erstattet. Entschuldigung!"
        assert "The customer's reply_language: German" in seen[-1]
        assert "From earlier sessions" in seen[-1]
        assert "Order 4711 came broken" in seen[-1]
        [recalled] = [
            event async for event in log.session("s-43").events() if event.type == "memory.recalled"
        ]
        assert recalled.version < 10
        other = Case("s-44", "ticket-11", "u-8")
        assert await support(log, other, client, model, SMALL) == "It is refunded. Sorry!"
        assert "From earlier sessions" not in seen[-1]


async def test_what_is_no_amount_is_told_to_the_model_and_not_paid() -> None:
    payments = Payments()
    asked = aj.ToolCallPart(
        call_id="c-1", name="refund", arguments_text='{"order": 1, "amount": "much"}'
    )

    async def model(messages: Sequence[Mapping[str, Any]]) -> aj.MessageAdded:
        was_refused = "'much' is no amount" in str(messages[-1]["content"])
        said = {"content": "How much?"} if was_refused else {"parts": [asked]}
        return aj.MessageAdded.model_validate({"role": "assistant", **said})

    async with client_of(payments) as client, memory_log() as log:
        assert await support(log, CASE, client, model, SMALL) == "How much?"
    assert list(payments) == []


async def test_an_answer_that_was_lost_is_asked_for_and_not_paid_again() -> None:
    payments = Payments()
    async with client_of(payments, loses="POST") as client, memory_log() as log:
        assert await support(log, CASE, client, support_model, SMALL) == "It is refunded. Sorry!"
        [refund, _] = (await log.session("s-42").load()).calls.values()
    assert list(payments) == ["12.50 for order 4711"]
    assert (refund.outcome, refund.attempt) == ("completed", 1)
