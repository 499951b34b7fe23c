"""Append ids: a repeat is recorded once, whoever sends it and however many are on their way."""

from __future__ import annotations

import asyncio

import pytest

from agentjournal import AppendIdReused
from tests.clients import Clients
from tests.servers import eventually, unsettled
from tests.support import message


async def test_the_same_append_id_in_many_sessions_are_many_appends(clients: Clients) -> None:
    async with clients.connected() as log:
        sessions = [log.session(f"s-{n}") for n in range(24)]
        receipts = await asyncio.gather(
            *(s.append(message(s.id), append_id="turn-1", timeout_s=10) for s in sessions)
        )
        assert [r.stream for r in receipts] == [s.stream for s in sessions]
        for session in sessions:
            [found] = (await session.load()).messages
            assert found.text == session.id


async def test_a_call_that_gave_up_and_its_repeat_are_one_append(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        first = asyncio.create_task(session.append(message("once"), append_id="a"))
        await eventually(lambda: unsettled(log))
        first.cancel()
        again = await session.append(message("once"), append_id="a")
        assert (again.first_version, again.last_version) == (2, 2)
        after = await session.append(message("more"), expected_version=2, timeout_s=5)
        assert after.first_version == 3


async def test_two_calls_at_once_under_one_id_are_one_append(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        calls = [session.append(message("once"), append_id="a", timeout_s=5) for _ in range(8)]
        receipts = await asyncio.gather(*calls)
        assert {(r.position, r.first_version, r.last_version) for r in receipts} == {
            (receipts[0].position, 2, 2)
        }
        assert (await session.append(message("more"), expected_version=2)).first_version == 3


async def test_two_calls_at_once_under_one_id_with_other_content_are_told_apart(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        first = asyncio.create_task(session.append(message("one"), append_id="a"))
        await eventually(lambda: unsettled(log))
        with pytest.raises(AppendIdReused):
            await session.append(message("other"), append_id="a", timeout_s=5)
        assert (await first).first_version == 2
