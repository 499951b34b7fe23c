"""Working memory: notes are what the log says."""

from __future__ import annotations

import asyncio

import pytest

import agentjournal as aj
from tests.clients import Clients


async def test_notes_of_an_ended_session_stay_gone_without_a_cache(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        await session.set_note("a", 1)
        await session.end()
        assert await session.notes() == {}
        await session.append(aj.SessionResumed())
        await session.set_note("b", 2)
        assert await session.notes() == {"b": 2}


async def test_of_two_writers_both_notes_show_and_the_last_of_one_key(clients: Clients) -> None:
    async with clients.connected() as one, clients.connected(tenant=one.settings.tenant) as two:
        first, second = one.session("s"), two.session("s")
        receipts = await asyncio.gather(
            *(first.set_note(f"first-{n}", n) for n in range(10)),
            *(second.set_note(f"second-{n}", n) for n in range(10)),
            first.set_note("both", "first"),
            second.set_note("both", "second"),
        )
        last = max(receipts[-2:], key=lambda receipt: receipt.last_version)
        wins = "first" if last is receipts[-2] else "second"
        found = dict(await one.session("s").notes())
        assert found.pop("both") == wins
        assert found == {f"{who}-{n}": n for who in ("first", "second") for n in range(10)}


async def test_a_note_that_cannot_be_written_is_refused_with_its_place(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        with pytest.raises(aj.AppendRejected, match="key"):
            await session.set_note("", 1)
        with pytest.raises(aj.AppendRejected, match="value"):
            await session.set_note("a", object())
        with pytest.raises(aj.AppendRejected, match="ttl_s"):
            await session.set_note("a", 1, ttl_s=-1)
        with pytest.raises(aj.AppendRejected, match="key"):
            await session.delete_note("\n")
