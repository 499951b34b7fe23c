"""Named locks, and what a session records and finds without a run."""

from __future__ import annotations

import asyncio

import pytest

from agentjournal import LeaseHeld, LeaseLost, MessageAdded
from tests.clients import Clients


async def test_a_lock_has_one_holder_and_its_fence_grows(clients: Clients) -> None:
    async with clients.connected() as log:
        async with log.lock("deploy", holder="one") as lock:
            lock.check()
            with pytest.raises(LeaseHeld) as held:
                async with log.lock("deploy", holder="two", wait_s=0):
                    pass
            assert held.value.holder == "one"
            async with log.lock("another", wait_s=0):
                pass
        async with log.lock("deploy", holder="two", wait_s=0) as after:
            assert after.fence > lock.fence


async def test_who_wants_a_lock_waits_for_it(clients: Clients) -> None:
    async with clients.connected() as log:
        order: list[str] = []
        has_it = asyncio.Event()

        async def first() -> None:
            async with log.lock("deploy", ttl_s=60):
                has_it.set()
                order.append("first is in")
                await log.session("s").append(MessageAdded(role="user", content="some work"))
                order.append("first is out")

        async def second() -> None:
            await has_it.wait()
            async with log.lock("deploy", ttl_s=60):
                order.append("second is in")

        await asyncio.gather(first(), second())
        assert order == ["first is in", "first is out", "second is in"]


async def test_a_lock_that_another_took_says_so(clients: Clients) -> None:
    async with clients.connected() as log:
        locking = log.lock("deploy", ttl_s=0.3, holder="one")
        lock = await locking.__aenter__()
        await lock.keeper.stop()  # as a process that is stopped
        await clients.time_passes(0.4)
        async with log.lock("deploy", ttl_s=60, holder="two", wait_s=5):
            lock.keeper.start()
            async with asyncio.timeout(10):
                while not lock.is_lost:  # noqa: ASYNC110 - it tells nobody
                    await asyncio.sleep(0.01)
            with pytest.raises(LeaseLost):
                lock.check()
        await locking.__aexit__()


async def test_a_session_records_a_response_and_has_an_inbox_without_a_run(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        await session.append(MessageAdded(role="user", content="Hello."))
        assert [message.text for message in await session.inbox()] == ["Hello."]
        await session.record(
            {
                "id": "completion-1",
                "object": "chat.completion",
                "created": 0,
                "model": "m",
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "stop",
                        "message": {"role": "assistant", "content": "Good day."},
                    }
                ],
            }
        )
        state = await session.load()
        assert [message.text for message in state.messages] == ["Hello.", "Good day."]
        assert await session.inbox() == []
