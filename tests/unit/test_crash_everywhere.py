"""Killing an agent at each await: a safe one passes, an unsafe one fails at the await it loses."""

from __future__ import annotations

import asyncio
import inspect
import re
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import anyio
import pytest

import agentjournal as aj
from agentjournal.testing import CrashFailure, Ledger, MemoryLog, crash_everywhere, memory_log
from tests.scripted_chat import ScriptedChat
from tests.support import message

Main = Callable[[MemoryLog], Coroutine[Any, Any, None]]
REFUND = ("refund", {"order": 1})


class Payments:
    """A payment service that knows the keys of refunds that it made."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def tools(self, **policy: Any) -> dict[str, Any]:
        async def found(order: int, *, call: aj.Call) -> Any:  # noqa: ARG001 - as the tool
            key = call.idempotency_key
            return self.ledger.answer_to(key) if self.ledger.has(key) else aj.NOT_DONE

        policy = policy or {"verify": found}

        @aj.tool(effect="external", **policy)
        async def refund(order: int, *, call: aj.Call) -> Any:
            key = call.idempotency_key
            return await self.ledger.act("refund", order=order, key=key, answer=f"paid {order}")

        return {"refund": refund}


def agent(tools: dict[str, Any], *rounds: Any, message_id: str | None = "question") -> Main:
    model = ScriptedChat(*rounds)

    async def main(log: MemoryLog) -> None:
        async with log.session("s-42", user="u-7", agent="support").resume() as run:
            await run.say("Please refund.", message_id=message_id)
            while not run.answered:
                await run.finish_open_calls(tools)
                window = await run.window()
                await run.record(model(window.messages))

    return main


async def test_an_agent_that_asks_before_it_acts_again_passes() -> None:
    ledger = Ledger()
    main = agent(Payments(ledger).tools(), [REFUND], [("refund", {"order": 2})])
    report = await crash_everywhere(main, effects=ledger)
    assert report.awaits > 10
    assert report.kills >= report.runs >= report.awaits
    assert any(re.search(r"test_crash_everywhere.py:\d+ in refund$", p) for p in report.places)
    assert str(report).startswith(f"{report.kills} kills in {report.runs} runs")


async def test_calls_that_go_on_at_once_are_killed_in_the_middle_too() -> None:
    ledger = Ledger()
    main = agent(Payments(ledger).tools(), [REFUND, ("refund", {"order": 2})])
    report = await crash_everywhere(main, effects=ledger)
    assert sum(" in refund" in place for place in report.places) == 1


async def test_rows_of_kills_are_the_same_for_the_same_seed() -> None:
    ledger = Ledger()
    main = agent(Payments(ledger).tools(), [REFUND])
    first = await crash_everywhere(main, effects=ledger, kills=2, limit=8, seed=1)
    again = await crash_everywhere(main, effects=ledger, kills=2, limit=8, seed=1)
    assert first == again
    assert first.kills > first.runs


async def test_an_effect_without_a_key_is_found_to_happen_twice() -> None:
    ledger = Ledger()

    @aj.tool(effect="idempotent")  # which it is not
    async def refund(order: int) -> str:
        await ledger.act("refund", order=order)
        return "paid"

    with pytest.raises(CrashFailure) as failure:
        await crash_everywhere(agent({"refund": refund}, [REFUND]), effects=ledger)
    [difference] = failure.value.differences
    assert difference == "effect refund(order=1) happened 2 times, uninterrupted 1 times"
    assert re.match(r"killed at .*test_crash_everywhere\.py:\d+ in refund", failure.value.kills[0])
    assert "test_crash_everywhere.py" in str(failure.value)


async def test_what_is_said_twice_is_found_in_the_state() -> None:
    main = agent({}, message_id=None)
    with pytest.raises(CrashFailure, match=r"state\.session/default/s-42"):
        await crash_everywhere(main)


async def test_an_append_on_its_way_is_lost_or_lands() -> None:
    """The agent is right only if it is lost: what it says after a crash is another message."""

    async def main(log: MemoryLog) -> None:
        session = log.session("s")
        try:
            found = await session.load()
        except aj.SessionNotFound:
            await session.append(message("first"))
        else:
            if found.messages[-1].text != "second":
                await session.append(message("after a crash"))
        await session.append(message("second"))

    with pytest.raises(CrashFailure) as failure:
        await crash_everywhere(main)
    assert "1 of 1 appends on their way to the log arrived" in failure.value.kills[0]


async def test_nothing_of_a_dead_agent_runs_on() -> None:
    ledger, cleaned = Ledger(), list[str]()

    async def child(log: MemoryLog) -> None:
        try:
            await log.session("s").append(message("child"), append_id="child")
            await asyncio.sleep(0)
        finally:
            cleaned.append("child")
            ledger.record("cleaned")

    async def main(log: MemoryLog) -> None:
        await log.session("s").append(message("main"), append_id="main")
        async with asyncio.TaskGroup() as group:
            group.create_task(child(log))
            await asyncio.sleep(0)

    report = await crash_everywhere(main, effects=ledger)
    assert report.kills >= 4
    assert len(cleaned) > report.runs, "it is tidied up when nobody looks any more"


async def test_a_tool_that_has_a_thread_is_killed_at_the_await_around_it() -> None:
    ledger, threads = Ledger(), set[int]()

    @aj.tool(effect="idempotent")
    def refund(order: int, *, call: aj.Call) -> Any:
        threads.add(threading.get_ident())
        return ledger.record("refund", order=order, key=call.idempotency_key, answer="paid")

    assert await crash_everywhere(agent({"refund": refund}, [REFUND]), effects=ledger)
    assert threads == {threading.get_ident()}
    assert await asyncio.to_thread(threading.get_ident) != threading.get_ident(), "as before"


async def test_a_task_is_looked_at_as_any_other() -> None:
    """As task groups of other libraries do."""

    async def main(log: MemoryLog) -> None:
        task = asyncio.current_task()
        assert task is not None
        coroutine: Any = task.get_coro()
        assert inspect.getcoroutinestate(coroutine) == inspect.CORO_RUNNING
        assert "main" in repr(task)
        async with anyio.create_task_group() as group:
            group.start_soon(partial(log.session("s").append, append_id="a"), message("a"))
            with anyio.move_on_after(0):
                await anyio.sleep(1)
            group.cancel_scope.cancel()

    assert await crash_everywhere(main, limit=1)


async def test_appends_that_are_on_their_way_at_once_arrive_in_part() -> None:
    arrived: set[frozenset[str]] = set()

    async def main(log: MemoryLog) -> None:
        arrived.add(frozenset(name for _, _, name in log.streams()))
        sessions = [log.session(name) for name in "abc"]
        await asyncio.gather(*(s.append(message(s.id), append_id=s.id) for s in sessions))

    assert await crash_everywhere(main)
    assert arrived == {frozenset("abc"[:count]) for count in range(4)}


async def test_somebody_sees_to_what_nobody_knows() -> None:
    ledger = Ledger()
    tools = Payments(ledger).tools(on_unknown="ask")

    async def settle(log: MemoryLog, error: Exception) -> None:
        assert isinstance(error, aj.NeedsVerification)
        session = log.session("s-42", user="u-7")
        for call in error.calls:
            key = call.idempotency_key or ""
            if not ledger.has(key):
                await ledger.act("refund", key=key, answer="paid 1", **call.arguments)
            await session.settle(call.call_id, output=ledger.answer_to(key))

    main = agent(tools, [REFUND])
    with pytest.raises(CrashFailure, match="run again, it raises NeedsVerification"):
        await crash_everywhere(main, effects=ledger)
    assert await crash_everywhere(main, effects=ledger, recover=settle)


async def test_what_an_agent_raises_uninterrupted_goes_through() -> None:
    async def main(_: MemoryLog) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await crash_everywhere(main)


async def test_each_run_begins_with_the_log_that_it_is_given() -> None:
    async def main(log: MemoryLog) -> None:
        assert log.settings.tenant == "acme"
        await log.session("s").append(message("a"), append_id="a")

    assert await crash_everywhere(main, log=lambda: memory_log(tenant="acme"))


async def test_what_a_stand_in_adds_to_a_list_counts_as_well() -> None:
    effects: list[str] = []

    async def main(log: MemoryLog) -> None:
        effects.append("sent")
        await log.session("s").append(message("a"), append_id="a")

    with pytest.raises(CrashFailure, match="effect sent happened 2 times"):
        await crash_everywhere(main, effects=effects)


async def test_the_loop_is_as_it_was_afterwards() -> None:
    before = asyncio.get_running_loop().get_task_factory()
    await crash_everywhere(agent({}))
    assert asyncio.get_running_loop().get_task_factory() is before
    assert asyncio.all_tasks() == {asyncio.current_task()}
