"""Streaming and following, as every log does it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentjournal import AppendRejected, MessageAbandoned, MessageAdded, TextPart
from agentjournal.drafts import Draft
from agentjournal.events import Event
from tests.clients import Clients
from tests.live_pages import Page, drafts_of, messages, until_kept
from tests.servers import inside
from tests.support import message

HOSTILE = ["", "a\0b", "\ud83d", "\ude00", '{"$text": [1]}', "\U0001f600", "\x1b[2J\r\n", "\udfff"]


async def test_a_message_is_shown_as_it_is_written_and_recorded_once(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        async with Page(log.session("s")) as page:
            async with session.stream_message() as written:
                await written.write("Hello")
                await page.shows({written.message_id: "Hello"})
                assert [e async for e in session.events()] == []
                await written.write(", world")
                await page.shows({written.message_id: "Hello, world"})
            await page.has(2)
            assert page.shown == {}
        assert await messages(session) == [("Hello, world", "complete")]
        assert written.receipt is not None
        assert written.receipt.last_version == 2
        assert await drafts_of(log, session) == {}


async def test_any_text_survives_exactly(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        async with session.stream_message() as written:
            for piece in HOSTILE:
                await written.write(piece)
            whole = {written.message_id: "".join(HOSTILE)}
            async with Page(log.session("s")) as page:
                await page.shows(whole)
            await until_kept(log, session, whole)
        assert await messages(session) == [("".join(HOSTILE), "complete")]


async def test_what_there_was_is_recorded_when_the_writer_is_cancelled(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        writing = asyncio.Event()

        async def write() -> None:
            async with session.stream_message() as written:
                await written.write("I will ")
                writing.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(write())
        await writing.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await messages(session) == [("I will ", "incomplete")]


async def test_closing_the_log_waits_for_a_message_that_is_being_recorded(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        tenant, session = log.settings.tenant, log.session("s")
        writing = asyncio.Event()

        async def write() -> None:
            async with session.stream_message() as written:
                await written.write("I will ")
                writing.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(write())
        await writing.wait()
        while not task.done():
            task.cancel()  # as frameworks do that cancel until everything has ended
            await asyncio.sleep(0)
    async with clients.connected(tenant=tenant) as log:
        assert await messages(log.session("s")) == [("I will ", "incomplete")]


async def test_a_writer_that_was_taken_for_dead_changes_nothing(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        written = session.stream_message()

        async def write() -> None:
            async with written:
                await written.write("Half")
                await until_kept(log, session, {written.message_id: "Half"})
                await log.session("s").record_abandoned(idle_s=0)
                await written.write(" and the rest")

        with pytest.raises(MessageAbandoned):
            await write()
        assert await messages(session) == [("Half", "incomplete")]
        assert await drafts_of(log, session) == {}


async def test_a_draft_that_was_recorded_is_not_shown_again_nor_recorded(
    clients: Clients,
) -> None:
    """Its writer may have died before it could drop it; however long ago that was."""
    async with clients.connected() as log:
        session = log.session("s")
        async with session.stream_message() as written:
            await written.write("a")
            await until_kept(log, session, {written.message_id: "a"})
            kept = (await inside(log).live.drafts.kept([session.stream]))[session.stream][0]
        drafts = inside(log).live.drafts
        await drafts.put(session.stream, kept.draft, kept.text, 0)
        async with Page(log.session("s"), after=2) as page:
            await session.append(message("next"))
            await page.has(1)
            assert page.deltas == []
        assert await session.record_abandoned(idle_s=0) == []
        assert await drafts_of(log, session) == {}
        assert await messages(session) == [("a", "complete"), ("next", "complete")]


def starred(event: Event) -> Event:
    is_message = isinstance(event, MessageAdded)
    return event.model_copy(update={"parts": [TextPart(text="***")]}) if is_message else event


async def test_what_is_redacted_is_not_streamed_unless_told_to(clients: Clients) -> None:
    async with clients.connected() as log:
        await log.session("s").append(message("a"))
        async with (
            clients.connected(tenant=log.settings.tenant, redact=starred) as careful,
            Page(log.session("s"), after=2) as page,
        ):
            session = careful.session("s")
            async with session.stream_message() as written:
                await written.write("secret")
                assert await drafts_of(log, session) == {}
            await page.has(1)
            assert page.deltas == []
            async with session.stream_message(unredacted=True) as written:
                await written.write("secret")
                await page.shows({written.message_id: "secret"})
        assert (await messages(log.session("s")))[1:] == [("***", "complete")] * 2


async def test_what_could_not_be_recorded_is_refused_before_anything_is_written(
    clients: Clients,
) -> None:
    role: Any = "robot"
    async with clients.connected() as log:
        with pytest.raises(AppendRejected) as refused:
            log.session("s").stream_message(role)
        assert refused.value.path == "role"
        with pytest.raises(AppendRejected) as refused:
            log.session("s").stream_message(message_id="a\nb")
        assert refused.value.path == "message_id"
        with pytest.raises(ValueError, match="after=-1 is below 0"):
            log.session("s").live(after=-1)


async def test_who_holds_a_later_lease_need_not_wait_for_the_writer(clients: Clients) -> None:
    """It can record nothing any more, though it may be there."""
    async with clients.connected() as log:
        session = log.session("s")
        await session.append(message("a"))
        before = Draft("one", "m-1", "assistant", fence=1)
        beside = Draft("two", "m-2", "assistant")  # its writer needs no lease
        for draft in (before, beside):
            await inside(log).live.drafts.put(session.stream, draft, f"Half {draft.draft_id}", 0)
        async with session.resume(worker="next") as run:  # records them first
            assert await run.session.record_abandoned(idle_s=3_600) == []
        assert await messages(session) == [("a", "complete"), ("Half one", "incomplete")]
        assert await drafts_of(log, session) == {"m-2": "Half two"}
