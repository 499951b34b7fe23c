"""Runs where things meet: outcomes from elsewhere, messages in between, calls that are cut off."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

import agentjournal
from agentjournal import (
    NOT_DONE,
    AppendRejected,
    CallEnded,
    Log,
    MessageAdded,
    NeedsVerification,
    Part,
    Retry,
    Run,
    ToolCallPart,
    ToolError,
    tool,
)
from tests.clients import Clients

ANSWER = "That is all."


def asks(name: str = "act", arguments: str = "{}", call_id: str = "c-1") -> MessageAdded:
    parts: list[Part] = [ToolCallPart(call_id=call_id, name=name, arguments_text=arguments)]
    return MessageAdded(role="assistant", parts=parts)


async def asked(log: Log, *, lease_s: float = 60) -> Run:
    """Return a run whose model asked for a call."""
    run = await log.session("s").resume(lease_s=lease_s)
    await run.say("Act.")
    await run.record(asks())
    return run


async def cut_off(log: Log) -> None:
    """Leave a call of `act` without an outcome, under a lease that passes soon."""
    run = await asked(log, lease_s=0.3)
    await run.call("act", {}, call_id="c-1", lease_s=0.3).__aenter__()
    await run.abandon()


async def test_a_call_that_is_settled_while_it_is_found_out_about_is_not_run(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        await cut_off(log)
        ran: list[str] = []

        async def look(*, call: agentjournal.Call) -> object:
            await log.session("s").settle(call.call_id, output="done elsewhere")
            return NOT_DONE

        @tool(verify=look, name="act")
        async def act() -> None:
            ran.append("act")

        async with log.session("s").resume(lease_s=0.3, wait_s=5) as run:
            await run.finish_open_calls([act])
            assert ran == []
        call = (await log.session("s").load()).calls["c-1"]
        assert (call.outcome, call.output) == ("completed", "done elsewhere")


async def test_a_failure_that_was_settled_as_done_meanwhile_is_not_tried_again(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        ran: list[str] = []

        @tool(retry=Retry(max_attempts=3), name="act")
        async def act(*, call: agentjournal.Call) -> None:
            ran.append(call.idempotency_key)
            await log.session("s").settle(call.call_id, output="the webhook was first")
            raise ToolError("no answer")

        run = await asked(log)
        await run.finish_open_calls([act])
        assert len(ran) == 1
        assert run.completed[0].output == "the webhook was first"
        await run.release()


async def test_what_was_given_up_unknown_is_never_tried_under_another_key(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        ran: list[str] = []

        @tool(on_unknown="fail", retry=Retry(max_attempts=3), name="act")
        async def act(*, call: agentjournal.Call) -> None:
            ran.append(call.idempotency_key)
            raise TimeoutError

        run = await asked(log)
        await run.finish_open_calls([act])
        assert len(ran) == 1
        assert [(c.outcome, c.attempt) for c in run.failed] == [("failed", 1)]
        await run.release()


async def test_a_message_between_window_and_answer_is_left_for_the_next_turn(
    clients: Clients,
) -> None:
    async with clients.connected() as log, log.session("s").resume() as run:
        await run.say("One.")
        await run.window()
        await run.say("Two.")
        await run.record(MessageAdded(role="assistant", content=ANSWER))
        assert (run.answered, [message.text for message in run.inbox]) == (False, ["Two."])


async def test_a_streamed_message_that_was_cut_off_is_no_answer(clients: Clients) -> None:
    async with clients.connected() as log, log.session("s").resume() as run:
        await run.say("Tell me.")

        async def half() -> None:
            async with run.stream_message() as message:
                await message.write("Once upon")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await half()
        assert run.state.messages[-1].status == "incomplete"
        assert not run.answered


async def test_what_was_said_already_by_another_is_not_said_again(clients: Clients) -> None:
    async with clients.connected() as log, log.session("s").resume() as run:
        said = MessageAdded(role="user", content="Hello.", message_id="m-1")
        await log.session("s").append(said)
        assert await run.say("Hello.", message_id="m-1") is None
        assert [message.message_id for message in run.state.messages] == ["m-1"]


async def test_who_died_behind_the_verifiers_answer_is_followed(clients: Clients) -> None:
    async with clients.connected() as log:
        await cut_off(log)
        session = log.session("s")
        failure = agentjournal.ToolFailure(message="it did not happen", code="not_done")
        await session.settle("c-1", error=failure, settled_by="verifier")

        async def act() -> str:
            return "now it did"

        async with session.resume(lease_s=0.3, wait_s=5) as run:
            await run.finish_open_calls({"act": act})
            assert [call.output for call in run.completed] == ["now it did"]


async def test_a_thread_that_was_given_up_is_not_run_beside(clients: Clients) -> None:
    async with clients.connected() as log:
        began, go_on = threading.Event(), threading.Event()
        runs: list[int] = []

        def look() -> object:
            return NOT_DONE

        @tool(verify=look, timeout_s=0.2, name="act")
        def act() -> None:
            runs.append(1)
            began.set()
            go_on.wait(10)

        run = await asked(log)
        try:
            with pytest.raises(NeedsVerification):
                await run.finish_open_calls([act])
        finally:
            go_on.set()
        assert (began.is_set(), runs) == (True, [1])
        await run.release()


@pytest.mark.parametrize("arguments", ["[1]", '{"other": 1}', "no JSON"])
async def test_arguments_that_do_not_fit_are_refused_once(clients: Clients, arguments: str) -> None:
    async with clients.connected() as log, log.session("s").resume() as run:

        @tool(retry=Retry(max_attempts=5, on=["invalid_arguments"]), name="act")
        async def act(order: int) -> None:
            raise AssertionError(order)

        await run.say("Act.")
        await run.record(asks(arguments=arguments))
        async with asyncio.timeout(20):
            await run.finish_open_calls([act])
        (call,) = run.failed
        assert call.error is not None
        assert (call.error.type, call.attempt) == ("invalid_arguments", 1)


async def test_of_two_who_begin_the_same_call_one_does(clients: Clients) -> None:
    async with clients.connected() as log, clients.connected(tenant=log.settings.tenant) as other:
        effects: list[str] = []

        async def greet(mine: Log) -> None:
            async with mine.session("s").call("mail", {}, call_id="welcome") as call:
                effects.append("sent")
                await call.complete("sent")

        ended = await asyncio.gather(greet(log), greet(other), return_exceptions=True)
        (refused,) = [each for each in ended if each is not None]
        assert isinstance(refused, NeedsVerification | CallEnded)
        assert effects == ["sent"]


async def test_a_call_id_that_the_session_has_is_refused(clients: Clients) -> None:
    async with clients.connected() as log, log.session("s").resume() as run:
        await run.record(asks())
        with pytest.raises(AppendRejected, match=r"events\[0\].data.parts\[0\].call_id"):
            await run.record(asks())


async def test_a_message_while_an_approval_is_open_is_answered_and_the_call_runs_then(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        session, ran = log.session("s"), list[int]()

        @tool(approval=True, name="act")
        async def act() -> str:
            ran.append(1)
            return "done"

        async def work(model: Callable[[list[Any]], MessageAdded]) -> Run:
            async with session.resume() as run:
                while not run.answered:
                    await run.finish_open_calls([act])
                    if run.waiting:
                        break
                    window = await run.window()
                    await run.record(model(list(window.messages)))
                return run

        await session.append(MessageAdded(role="user", content="Act."))
        run = await work(lambda _: asks())
        (approval,) = run.state.approvals.values()
        await session.append(MessageAdded(role="user", content="And how are you?"))
        run = await work(lambda _: MessageAdded(role="assistant", content="Well."))
        assert (run.waiting, run.inbox, ran) == (True, [], [])
        await session.grant(approval.approval_id, by="boss")
        run = await work(lambda _: MessageAdded(role="assistant", content=ANSWER))
        assert (ran, run.answered, run.state.messages[-1].text) == ([1], True, ANSWER)


async def test_a_call_id_that_a_message_gives_twice_is_refused_and_run_once_where_it_is_there(
    clients: Clients,
) -> None:
    ran: list[str] = []

    async def act(*, call: agentjournal.Call) -> None:
        ran.append(call.call_id)

    async with clients.connected() as log, log.session("s").resume() as run:
        await run.say("Act.")
        twice = MessageAdded(role="assistant", parts=[*asks().parts, *asks().parts])
        with pytest.raises(AppendRejected) as refused:
            await run.record(twice)
        assert refused.value.path == "events[0].data.parts[1].call_id"
        await run.append(twice)  # as whoever writes without a run may
        await run.finish_open_calls({"act": act})
        assert ran == ["c-1"]
