"""Approvals and questions: asked once, answered from anywhere, and gone on with later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import agentjournal
from agentjournal import (
    AnsweredTooLate,
    ApprovalNotFound,
    Ask,
    InputNotFound,
    Log,
    MessageAdded,
    Tool,
)
from tests.agents import asks, says, types, work
from tests.clients import Clients

DONE = says("It is done.")


class Till:
    """Pays, once somebody allowed it."""

    def __init__(self, approval: bool | Ask | Callable[[Mapping[str, Any]], Ask] = True) -> None:
        self.paid: list[int] = []

        async def pay(amount: int) -> str:
            self.paid.append(amount)
            return f"paid {amount}"

        self.tool: Tool = agentjournal.tool(approval=approval)(pay)


async def left_waiting(log: Log, till: Till) -> str:
    """Let a model ask for `pay(10)`, and leave the session waiting; return the approval's id."""
    session = log.session("s", agent="support")
    await session.append(MessageAdded(role="user", content="Pay 10."))
    run = await work(session, [asks("c", "pay", amount=10), DONE], [till.tool])
    assert (run.waiting, till.paid) == (True, [])
    [approval] = run.state.approvals.values()
    assert (approval.call_id, approval.outcome) == ("c", "open")
    return approval.approval_id


async def gone_on(log: Log, till: Till) -> str:
    """Go on with the session as another process; return what came of the call."""
    run = await work(log.session("s"), [asks("c", "pay", amount=10), DONE], [till.tool])
    assert (run.answered, run.waiting) == (True, False)
    output = run.state.calls["c"].output
    assert isinstance(output, str)
    return output


async def test_a_granted_call_runs_once_with_what_was_asked_about(clients: Clients) -> None:
    async with clients.connected() as log, clients.connected(tenant=log.settings.tenant) as desk:
        till = Till()
        approval_id = await left_waiting(log, till)
        granted = await desk.session("s").grant(approval_id, by="eva", comment="fine")
        assert (granted.outcome, granted.by, granted.comment) == ("granted", "eva", "fine")
        assert await gone_on(log, till) == "paid 10"
        assert till.paid == [10]
        started = [e async for e in log.session("s").events() if e.type == "tool.started"]
        assert [each.data["approval_id"] for each in started] == [approval_id]
        turns = [
            e.data["trigger"] async for e in log.session("s").events() if e.type == "turn.started"
        ]
        assert turns == ["user", "approval"]
        assert await types(log.session("s"), "approval.") == [
            *("approval.requested", "approval.granted"),
        ]


async def test_a_denied_call_is_not_run_and_the_model_reads_why(clients: Clients) -> None:
    async with clients.connected() as log:
        till = Till()
        approval_id = await left_waiting(log, till)
        await log.session("s").deny(approval_id, by="eva", comment="too much")
        assert await gone_on(log, till) == "denied: too much"
        assert till.paid == []
        error = (await log.session("s").load()).calls["c"].error
        assert error is not None
        assert (error.type, error.code) == ("denied", "approval_denied")


async def test_edited_arguments_are_what_runs(clients: Clients) -> None:
    async with clients.connected() as log:
        till = Till()
        approval_id = await left_waiting(log, till)
        await log.session("s").grant(approval_id, by="eva", edited_arguments={"amount": 7})
        async with log.session("s").resume(lease_s=1) as run:
            assert run.allows("pay", {"amount": 7})
            assert not run.allows("pay", {"amount": 10})
            assert run.approval(approval_id).by == "eva"
        assert await gone_on(log, till) == "paid 7"
        assert till.paid == [7]


async def test_the_first_answer_stands_and_is_returned_to_whoever_answers_later(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        till = Till()
        approval_id = await left_waiting(log, till)
        denied = await log.session("s").deny(approval_id, by="eva")
        assert await log.session("s").grant(approval_id, by="tom") == denied
        assert await types(log.session("s"), "approval.g", "approval.d") == ["approval.denied"]
        with pytest.raises(ApprovalNotFound):
            await log.session("s").grant("no-such", by="eva")


async def test_an_answer_that_comes_too_late_is_refused_and_the_call_is_denied(
    clients: Clients,
) -> None:
    async with clients.connected() as log:

        def ask(arguments: Mapping[str, Any]) -> Ask:
            return Ask(f"Pay {arguments['amount']}?", 60, requested_of="boss", choices=["y", "n"])

        till = Till(approval=ask)
        approval_id = await left_waiting(log, till)
        later = clients.seen_later(log, 61)
        with pytest.raises(AnsweredTooLate) as late:
            await later.session("s").grant(approval_id, by="eva")
        state = await log.session("s").load()
        approval = state.approvals[approval_id]
        assert (approval.outcome, approval.requested_of, approval.choices) == (
            *("expired", "boss", ["y", "n"]),
        )
        assert approval.question == "Pay 10?"
        assert late.value.expires_at.isoformat()[:19] == (approval.expires_at or "")[:19]
        assert await gone_on(later, till) == "denied: nobody answered in time"
        assert till.paid == []


async def test_a_run_records_that_nobody_answered_in_time_and_goes_on(clients: Clients) -> None:
    async with clients.connected() as log:
        till = Till(approval=Ask("May it pay?", expires_in_s=60))
        await left_waiting(log, till)
        later = clients.seen_later(log, 61)
        assert await gone_on(later, till) == "denied: nobody answered in time"
        assert await types(log.session("s"), "approval.") == [
            *("approval.requested", "approval.expired"),
        ]


async def test_what_is_asked_by_hand_twice_is_one_approval(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        async with session.resume(lease_s=1) as run:
            await run.say("Deploy, please.")
            asked = await run.request_approval("Deploy?", tool="deploy", arguments={"to": "prod"})
            assert (run.waiting, asked.outcome) == (True, "open")
            assert not run.allows("deploy", {"to": "prod"})
        text = '{"to":"prod"}'
        assert await session.request_approval("Deploy?", tool="deploy", arguments=text) == asked
        await session.grant(asked.approval_id, by="eva")
        async with session.resume(lease_s=1) as run:
            again = await run.request_approval("Deploy?", tool="deploy", arguments={"to": "prod"})
            assert (again.approval_id, again.outcome) == (asked.approval_id, "granted")
            assert run.allows("deploy", {"to": "prod"})
            assert not run.allows("deploy", {"to": "PROD"})
            assert not run.allows("destroy", {"to": "prod"})
            other = await run.request_approval("Deploy?", approval_id="another")
            assert other.outcome == "open"
        assert await types(session, "approval.r") == ["approval.requested"] * 2


async def test_a_question_is_answered_and_the_model_reads_the_answer(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        async with session.resume(lease_s=1) as run:
            await run.say("Book it.")
            asked = await run.request_input("Which day?", schema={"type": "string"})
            assert run.waiting
            assert asked == await run.request_input("Which day?", schema={"type": "string"})
        with pytest.raises(InputNotFound):
            await session.provide_input("no-such", 1, by="eva")
        first = await session.provide_input(asked.input_id, {"day": "Monday"}, by="eva")
        assert await session.provide_input(asked.input_id, "Tuesday", by="tom") == first
        async with session.resume(lease_s=1) as run:
            assert (run.answered, run.question(asked.input_id).value) == (False, {"day": "Monday"})
            shown = [message["content"] for message in (await run.window()).messages]
        assert shown == ["Book it.", '[eva answers: Which day?]\n{"day":"Monday"}']


async def test_what_is_no_answer_is_refused_with_its_place(clients: Clients) -> None:
    async with clients.connected() as log:
        approval_id = await left_waiting(log, Till())
        session = log.session("s")
        for wrong in ("{", "nothing"):
            with pytest.raises(agentjournal.AppendRejected, match="arguments: are no JSON"):
                await session.grant(approval_id, by="eva", edited_arguments=wrong)
        with pytest.raises(agentjournal.AppendRejected, match="by"):
            await session.deny(approval_id, by="")
        with pytest.raises(agentjournal.AppendRejected, match="expires_in_s"):
            await session.request_approval("May I?", expires_in_s=-1)
        with pytest.raises(agentjournal.AppendRejected, match="arguments"):
            await session.request_approval("May I?", arguments={})
        assert (await session.load()).approvals[approval_id].outcome == "open"
