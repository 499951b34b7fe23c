"""Workers: each session that needs one is worked on by one at a time, and none is forgotten."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agentjournal import (
    InputProvided,
    InputRequested,
    LeaseHeld,
    Log,
    MessageAdded,
    Run,
)
from agentjournal.events import TurnStarted
from agentjournal.setbacks import Setbacks
from tests.clients import Clients

AGENT = "support"


def said(text: str = "hello") -> MessageAdded:
    return MessageAdded(role="user", content=text)


async def answer(run: Run) -> None:
    await run.record(MessageAdded(role="assistant", content="yes"))


async def ask(log: Log, *sessions: str) -> None:
    """Let a user say something in each session."""
    for receipt in await asyncio.gather(
        *(log.session(name, agent=AGENT).append(said()) for name in sessions)
    ):
        await log.caught_up(receipt)


async def is_answered(log: Log, session: str) -> bool:
    state = await log.session(session).load()
    return state.messages[-1].role == "assistant"


async def eventually(look: Callable[[], Awaitable[bool]]) -> None:
    """Return once `look` says yes."""
    while not await look():  # noqa: ASYNC110 - what is looked at tells nobody
        await asyncio.sleep(0.02)


async def all_answered(log: Log, *sessions: str) -> None:
    for session in sessions:
        await eventually(lambda session=session: is_answered(log, session))  # type: ignore[misc]


@asynccontextmanager
async def worker(
    log: Log, function: Callable[[Run], Awaitable[object]], *, stop_s: float = 10, **options: Any
) -> AsyncGenerator[None]:
    """Let a worker run in the block."""
    working = log.work(agent=AGENT, lease_s=5, poll_s=0.02, **options)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(working.run(function, stop_s=stop_s))
        try:
            yield
        finally:
            working.stop()


async def test_what_waits_is_answered_and_then_left_alone(clients: Clients) -> None:
    seen: list[tuple[str, str]] = []

    async def answered(run: Run) -> None:
        seen.append((run.session.id, run.inbox[0].text))
        await answer(run)

    async with clients.connected() as log:
        await ask(log, "s")
        async with worker(log, answered):
            await all_answered(log, "s")
            await log.session("s").append(said("and now?"))
            await eventually(lambda: _has(log, "s", 4))
        assert seen == [("s", "hello"), ("s", "and now?")]


async def _has(log: Log, session: str, messages: int) -> bool:
    return len((await log.session(session).load()).messages) == messages


async def test_two_workers_share_the_sessions_and_none_is_done_twice(clients: Clients) -> None:
    names = [f"s-{n}" for n in range(20)]
    done: Counter[str] = Counter()

    async def answered(run: Run) -> None:
        done[run.session.id] += 1
        await answer(run)

    async with clients.connected() as log, clients.connected(tenant=log.settings.tenant) as other:
        await ask(log, *names)
        async with worker(log, answered, concurrency=3), worker(other, answered, concurrency=3):
            await all_answered(log, *names)
    assert done == Counter(names)


async def test_no_more_are_on_than_was_asked_for(clients: Clients) -> None:
    on: set[str] = set()
    most = 0
    go_on = asyncio.Event()

    async def held(run: Run) -> None:
        nonlocal most
        on.add(run.session.id)
        most = max(most, len(on))
        if most == 2:
            go_on.set()
        await go_on.wait()
        await answer(run)
        on.remove(run.session.id)

    names = [f"s-{n}" for n in range(5)]
    async with clients.connected() as log:
        await ask(log, *names)
        async with worker(log, held, concurrency=2):
            await all_answered(log, *names)
    assert most == 2


async def test_a_session_whose_worker_died_goes_on_when_its_lease_has_passed(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        await ask(log, "s")
        run = await log.session("s", agent=AGENT).resume(lease_s=0.5)
        receipt = await run.append(TurnStarted(trigger="user", input_versions=[2]))
        await run.abandon()
        await log.caught_up(receipt)
        await clients.time_passes(0.6)
        async with worker(log, answer):
            await all_answered(log, "s")


async def test_who_raises_is_left_alone_for_a_while_and_starves_nobody(clients: Clients) -> None:
    calls: Counter[str] = Counter()

    async def answered(run: Run) -> None:
        calls[run.session.id] += 1
        if run.session.id == "poison":
            raise RuntimeError("no")
        if run.session.id != "idle":
            await answer(run)

    names = [f"s-{n}" for n in range(4)]
    async with clients.connected() as log:
        await ask(log, "poison", "idle")
        await ask(log, *names)
        working: Any = log.work(agent=AGENT, poll_s=0.01)
        working._setbacks = Setbacks(3_600, 3_600)
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            group.create_task(working.run(answered))
            await all_answered(log, *names)
            await ask(log, "later")
            await all_answered(log, "later")
            working.stop()
        async with log.session("poison", agent=AGENT).resume():
            pass  # it was given back
    assert calls == Counter(["poison", "idle", *names, "later"])


async def test_two_agents_work_together_and_each_is_woken_by_the_other(clients: Clients) -> None:
    async def ask_the_helper(run: Run) -> None:
        if not run.state.handoffs:
            await run.hand_off("helper", "look it up")
            return
        [handoff] = run.state.handoffs.values()
        await run.window()
        await run.record(MessageAdded(role="assistant", content=f"It is {handoff.summary}"))

    async def help_out(run: Run) -> None:
        await run.window()
        await run.record(MessageAdded(role="assistant", content="42"))

    async with clients.connected() as log, clients.connected(tenant=log.settings.tenant) as other:
        await ask(log, "s")
        helper = other.work(agent="helper", poll_s=0.02)
        async with worker(log, ask_the_helper), asyncio.TaskGroup() as group:
            group.create_task(helper.run(help_out))
            await all_answered(log, "s")
            helper.stop()
        state = await log.session("s").load()
    assert state.messages[-1].text == "It is 42"


async def test_what_waits_for_an_answer_goes_on_with_it(clients: Clients) -> None:
    async def ask_first(run: Run) -> None:
        if run.state.questions:
            [question] = run.state.questions.values()
            await run.window()
            await run.record(MessageAdded(role="assistant", content=f"{question.value}, then"))
            return
        await run.window()
        await run.append(InputRequested(input_id="i", question="which?"))
        await run.end_turn("waiting")

    async with clients.connected() as log:
        await ask(log, "s")
        async with worker(log, ask_first):
            await eventually(lambda: _is_asked(log, "s"))
            await log.session("s").append(InputProvided(input_id="i", by="u", value="this"))
            await all_answered(log, "s")
        assert (await log.session("s").load()).messages[-1].text == "this, then"


async def _is_asked(log: Log, session: str) -> bool:
    turn = (await log.session(session).load()).turn
    return turn is not None and turn.reason == "waiting"


async def test_a_run_is_somebody_else_s_when_it_is_left(clients: Clients) -> None:
    """Without a function: each run is the caller's to leave."""
    async with clients.connected() as log:
        await ask(log, "a", "b")
        working = log.work(agent=AGENT, poll_s=0.02)
        seen: list[str] = []
        async with asyncio.timeout(20):
            async for run in working:
                async with run:
                    with pytest.raises(LeaseHeld):
                        await log.session(run.session.id).resume()
                    seen.append(run.session.id)
                    await answer(run)
                if len(seen) == 2:
                    working.stop()
        assert sorted(seen) == ["a", "b"]
        for session in seen:
            async with log.session(session).resume() as again:
                assert again.answered


async def test_who_is_stopped_ends_what_is_on(clients: Clients) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def held(run: Run) -> None:
        begun.set()
        await go_on.wait()
        await answer(run)

    async with clients.connected() as log:
        await ask(log, "a", "b")
        async with worker(log, held):
            await begun.wait()
            asyncio.get_running_loop().call_later(0.1, go_on.set)
        answered = [await is_answered(log, session) for session in ("a", "b")]
    assert sorted(answered) == [False, True]


async def test_what_does_not_end_in_time_is_given_back(clients: Clients) -> None:
    begun = asyncio.Event()

    async def endless(_: Run) -> None:
        begun.set()
        await asyncio.Event().wait()

    async with clients.connected() as log:
        await ask(log, "s")
        async with worker(log, endless, stop_s=0.05):
            await begun.wait()
        async with log.session("s").resume() as run:
            assert [message.text for message in run.inbox] == ["hello"]


@pytest.mark.parametrize("options", [{"concurrency": 0}, {"poll_s": 0}, {"lease_s": 0}])
async def test_numbers_that_make_no_sense_are_refused(
    clients: Clients, options: dict[str, Any]
) -> None:
    async with clients.connected() as log:
        with pytest.raises(ValueError, match=next(iter(options))):
            log.work(agent=AGENT, **options)
