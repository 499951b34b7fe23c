"""What the client refuses, and what the log refuses it: with the place, and nothing recorded."""

from __future__ import annotations

from typing import Any

import pytest

from agentjournal import (
    AppendRejected,
    Event,
    FactRetracted,
    MessageAdded,
    NoteSet,
    SessionDeleted,
    SessionMismatch,
    StreamDeleted,
)
from tests.clients import Clients
from tests.servers import unsettled
from tests.support import message

TOO_LARGE = MessageAdded(role="user", content="x" * 900_001)
REFUSED: dict[str, tuple[Any, str]] = {
    "too large": ([message("a"), TOO_LARGE], "events[1].data"),
    "too many": ([message("a")] * 1_001, "events"),
    "none": ([], "events"),
    "no event": ([message("a"), "b"], "events[1]"),
    "another stream's": (FactRetracted(fact_id="f", reason="r", by="b"), "events[0].type"),
    "a value without a form": (NoteSet(key="k", value={"a": object()}), "events[0].data.value.a"),
    "together too large": (
        [MessageAdded(role="user", content="x" * 300_000)] * 3,
        "events[0].data",
    ),
}


@pytest.mark.parametrize("fault", REFUSED)
async def test_what_is_not_valid_is_refused_before_anything_is_sent(
    clients: Clients, fault: str
) -> None:
    events, path = REFUSED[fault]
    async with clients.away() as log:
        with pytest.raises(AppendRejected) as refused:
            await log.session("s").append(events)
        assert refused.value.path == path
        with pytest.raises(AppendRejected):
            await log.session("s").enqueue(events)
        assert unsettled(log) == []


@pytest.mark.parametrize("text", ["", "a\0", "\ud800", "x" * 256])
async def test_names_that_cannot_be_ids_are_refused_under_their_names(
    clients: Clients, text: str
) -> None:
    async with clients.connected() as log:
        names = ["user", "task", *(["agent", "worker"] if text else [])]
        for name in names:
            with pytest.raises(AppendRejected) as refused:
                log.session("s", **{name: text})  # type: ignore[arg-type] # none of the others
            assert refused.value.path == {"task": "task_id"}.get(name, name)
        with pytest.raises(AppendRejected) as refused:
            await log.session("s").append(message("a"), append_id=text)
        assert refused.value.path == "append_id"
        with pytest.raises(AppendRejected):
            log.session(text)


async def test_the_longest_names_are_fine(clients: Clients) -> None:
    name = "é" * 255
    async with clients.connected() as log:
        session = log.session(name, user=name, agent=name, task=name, worker=name)
        await session.append(message("a"), append_id=name)
        assert (await session.load()).user == name
        [recorded] = [e async for e in session.events(after=1)]
        assert (recorded.worker, recorded.append_id) == (name, name)


async def test_a_deleted_session_takes_nothing_more(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        await session.append([message("a"), SessionDeleted(reason="asked for")])
        with pytest.raises(StreamDeleted):
            await session.append(message("b"))
        with pytest.raises(StreamDeleted):
            await log.session("s", user="u-9").append(message("b"), expected_version=3)
        assert (await session.load()).status == "deleted"


async def test_another_user_is_kept_out(clients: Clients) -> None:
    async with clients.connected() as log:
        await log.session("s", user="u-7").append(message("a"))
        with pytest.raises(SessionMismatch):
            await log.session("s", user="u-8").append(message("b"))
        assert (await log.session("s", user="u-7").append(message("c"))).first_version == 3


async def test_tenants_do_not_see_each_other(clients: Clients) -> None:
    async with clients.connected() as one, clients.connected() as two:
        await one.session("s").append(message("one"))
        await two.session("s").append([message("two"), message("too")])
        assert [m.text for m in (await one.session("s").load()).messages] == ["one"]
        assert [(i.session_id, i.version) async for i in one.sessions()] == [("s", 2)]
        assert [(i.session_id, i.version) async for i in two.sessions()] == [("s", 3)]


async def test_what_redact_returns_is_all_that_is_recorded(clients: Clients) -> None:
    def redact(event: Event) -> Event:
        if isinstance(event, MessageAdded):
            return message(event.text.replace("4242", "····"))
        return event

    async with clients.connected(redact=redact) as log:
        session = log.session("s", title="kept")
        await session.append(message("card 4242"))
        recorded = [e.raw_data async for e in session.events()]
        assert not any(b"4242" in raw for raw in recorded)
        state = await session.load()
        assert ([m.text for m in state.messages], state.title) == (["card ····"], "kept")
