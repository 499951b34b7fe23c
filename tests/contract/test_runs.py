"""Runs: the lease, the fence, and going on where another worker stopped."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

import agentjournal
from agentjournal import (
    LeaseHeld,
    LeaseLost,
    Log,
    MessageAdded,
    NoteSet,
    Part,
    Session,
    ToolCallPart,
)
from tests.clients import Clients


class Payments:
    """An outside system that knows its charges by their keys."""

    def __init__(self) -> None:
        self.charges: Counter[str] = Counter()

    async def refund(self, order: int, *, call: agentjournal.Call) -> str:
        """Refund an order."""
        self.charges[call.idempotency_key] += 1
        return f"refunded {order}"


def asks(*orders: int) -> MessageAdded:
    """Return what a model says that wants these orders refunded."""
    parts: list[Part] = [
        ToolCallPart(call_id=f"c-{order}", name="refund", arguments_text=f'{{"order": {order}}}')
        for order in orders
    ]
    return MessageAdded(role="assistant", parts=parts)


ANSWER = MessageAdded(role="assistant", content="Both are refunded.")


async def agent(session: Session, payments: Payments, script: list[MessageAdded]) -> None:
    """Work on a session until it is answered, as the README's agent does."""
    async with session.resume(lease_s=1, wait_s=3) as run:
        await run.say("Refund 1 and 2, please.", message_id="m-1")
        while not run.answered:
            await run.finish_open_calls({"refund": payments.refund})
            await run.window(max_tokens=8_000)
            await run.record(script[len(run.state.messages) - 1])


async def types(session: Session) -> list[str]:
    """Return the types of a session's events."""
    return [recorded.type async for recorded in session.events()]


async def test_an_agent_that_is_not_disturbed_leaves_a_whole_turn(clients: Clients) -> None:
    async with clients.connected() as log:
        session, payments = log.session("s", user="u-7", agent="support"), Payments()
        await agent(session, payments, [asks(1, 2), ANSWER])
        state = await session.load()
        assert [(c.call_id, c.outcome, c.output) for c in state.calls.values()] == [
            ("c-1", "completed", "refunded 1"),
            ("c-2", "completed", "refunded 2"),
        ]
        assert sorted(payments.charges.values()) == [1, 1]
        found = [each for each in await types(session) if each != "lease.renewed"]
        assert found[:4] == ["session.started", "lease.acquired", "turn.started", "message.added"]
        assert sorted(found[5:9]) == ["tool.completed"] * 2 + ["tool.started"] * 2
        assert found[9:] == ["message.added", "turn.ended", "lease.released"]
        fences = {r.type: r.fence async for r in session.events()}
        assert (fences["lease.acquired"], fences["tool.started"], fences["turn.ended"]) == (
            *(None, 2),
            2,
        )


async def test_a_session_is_held_by_one_worker_until_its_lease_has_passed(
    clients: Clients,
) -> None:
    async with clients.connected() as log, clients.connected(tenant=log.settings.tenant) as other:
        run = await log.session("s").resume(worker="w-1", lease_s=0.5)
        with pytest.raises(LeaseHeld) as held:
            await other.session("s").resume(worker="w-2")
        assert held.value.holder == "w-1"
        await run.abandon()
        taken = await other.session("s").resume(worker="w-2", lease_s=0.5, wait_s=3)
        assert taken.fence > run.fence
        with pytest.raises(LeaseLost):
            await run.say("too late")
        assert "message.added" not in await types(other.session("s"))
        await taken.release()


async def test_a_lease_is_renewed_while_it_is_held(clients: Clients) -> None:
    async with clients.connected() as log:
        async with log.session("s").resume(worker="w-1", lease_s=0.4) as run:
            async for recorded in log.session("s").events(follow=True):
                if recorded.type == "lease.renewed" and recorded.version > run.fence + 2:
                    break
            with pytest.raises(LeaseHeld):
                await log.session("s").resume(worker="w-2")
        again = await log.session("s").resume(worker="w-2")
        await again.release()


async def cut_off(log: Log, payments: Payments, *, after_effect: bool) -> None:
    """Let a worker die in the middle of a call."""
    session = log.session("s")
    run = await session.resume(worker="w-1", lease_s=0.3)
    await run.say("Refund 1.")
    await run.record(asks(1))
    started = asyncio.Event()

    async def refund(order: int, *, call: agentjournal.Call) -> str:
        if after_effect:
            await payments.refund(order, call=call)
        started.set()
        await asyncio.Event().wait()
        return "never"

    task = asyncio.create_task(run.finish_open_calls({"refund": refund}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await run.abandon()


@pytest.mark.parametrize("after_effect", [True, False])
async def test_a_call_that_was_cut_off_is_found_out_about(
    clients: Clients, after_effect: bool
) -> None:
    async with clients.connected() as log:
        payments = Payments()
        await cut_off(log, payments, after_effect=after_effect)
        keys: list[str] = []

        async def look(order: int, *, call: agentjournal.Call) -> object:
            keys.append(call.idempotency_key)
            done = payments.charges[call.idempotency_key]
            return f"refunded {order}" if done else agentjournal.NOT_DONE

        refund = agentjournal.tool(effect="external", verify=look)(payments.refund)
        async with log.session("s").resume(worker="w-2", lease_s=0.3, wait_s=3) as run:
            assert [call.call_id for call in run.unknown] == ["c-1"]
            await run.finish_open_calls([refund])
            (call,) = run.completed
            assert call.output == "refunded 1"
            assert payments.charges == {keys[0]: 1}
        found = await types(log.session("s"))
        assert found.count("tool.settled") == 1
        assert found.count("tool.started") == (1 if after_effect else 2)


async def test_what_cannot_be_found_out_is_asked_and_settled_from_anywhere(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        payments = Payments()
        await cut_off(log, payments, after_effect=True)
        tools = {"refund": payments.refund}
        async with log.session("s").resume(lease_s=0.3, wait_s=3) as run:
            with pytest.raises(agentjournal.NeedsVerification) as asked:
                await run.finish_open_calls(tools)
            assert [call.call_id for call in asked.value.calls] == ["c-1"]
            call = await log.session("s").settle("c-1", output="refunded 1", evidence="receipt 9")
            assert (call.outcome, call.output) == ("completed", "refunded 1")
            late = await log.session("s").settle("c-1", error="no, it failed")
            assert late == call
            await run.refresh()
            await run.finish_open_calls(tools)
            await run.record(ANSWER)
            assert run.answered
        assert sum(payments.charges.values()) == 1


async def test_a_message_that_came_meanwhile_is_answered_too(clients: Clients) -> None:
    async with clients.connected() as log:
        async with log.session("s").resume() as run:
            await run.say("Hello.")
            await run.window()
            await log.session("s").append(MessageAdded(role="user", content="And another thing."))
            await run.record(ANSWER)
            assert [message.text for message in run.inbox] == ["And another thing."]
            assert not run.answered
            await run.window()
            await run.record(ANSWER.model_copy(update={"message_id": "m-2"}))
            assert run.answered
        started = [r async for r in log.session("s").events() if r.type == "turn.started"]
        assert [each.data["input_versions"] for each in started] == [[4], [5]]


async def test_what_others_wrote_in_between_is_known_after_each_append(clients: Clients) -> None:
    async with clients.connected() as log, log.session("s").resume() as run:
        await run.say("Hello.")
        other = MessageAdded(role="user", content="Me too.")
        await log.session("s").append(other)
        receipt = await run.append(NoteSet(key="k", value=1))
        assert run.state.version == receipt.last_version
        assert [message.text for message in run.inbox] == ["Me too."]
