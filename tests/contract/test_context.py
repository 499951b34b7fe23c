"""The layers of a piece of work, loaded together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from agentjournal import (
    AppendRejected,
    FactRetracted,
    MessageAdded,
    StreamParked,
)
from agentjournal.ids import StreamId
from agentjournal.stored import Page
from tests.clients import Clients
from tests.layers import about, fact
from tests.servers import inside


async def test_three_layers_are_as_fresh_as_what_anybody_wrote(clients: Clients) -> None:
    async with clients.connected() as one, clients.connected(tenant=one.settings.tenant) as two:
        session = one.session("monday", user="u-7", task="ticket-9")
        last = await session.append(MessageAdded(role="user", content="Hello"))
        await one.task("ticket-9").set_note("parcel", 77)
        await about(one, "u-7").append([fact("f-1", "language", "de"), fact("f-2", "name", "Rosa")])

        context = await two.context(session="monday", task="ticket-9", user="u-7")
        assert context.session is not None
        assert [message.text for message in context.session.messages] == ["Hello"]
        assert context.session.user == "u-7"
        assert context.task is not None
        assert context.task.notes["parcel"].value == 77
        assert context.user is not None
        assert [(f.attribute, f.value) for f in context.user.facts.values()] == [
            ("language", "de"),
            ("name", "Rosa"),
        ]
        tenant = one.settings.tenant
        assert context.versions == {
            f"session/{tenant}/monday": last.last_version,
            f"task/{tenant}/ticket-9": 1,
            f"user/{tenant}/u-7": 2,
        }


async def test_what_has_not_begun_or_is_not_asked_for_is_none(clients: Clients) -> None:
    async with clients.connected() as log:
        context = await log.context(session="monday", user="u-7")
        assert (context.session, context.task, context.user) == (None, None, None)
        tenant = log.settings.tenant
        assert context.versions == {f"session/{tenant}/monday": 0, f"user/{tenant}/u-7": 0}
        assert (await log.context()).versions == {}
        with pytest.raises(AppendRejected):
            await log.context(session="")


async def test_facts_are_those_that_hold_and_of_one_id_the_first(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        user = about(log, "u-7")
        await user.append([fact("f-1", "language", "de"), fact("f-1", "language", "fr")])
        await user.append([fact("f-2", "name", "Rosa"), fact("f-3", "language", "it")])
        retracted = FactRetracted(fact_id="f-2", reason="it is her sister's", by="u-7")
        await user.append([retracted, fact("f-2", "name", "Rosa")])
        context = await log.context(user="u-7", project="u-7")
        assert context.project is None
        assert context.user is not None
        assert [(f.fact_id, f.value) for f in context.user.facts.values()] == [
            ("f-3", "it"),
        ]
        assert context.user.version == 6


async def test_a_layer_that_cannot_be_read_is_not_taken_for_one_that_is_not_there(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with clients.connected() as log:
        await log.task("ticket-9").set_note("parcel", 77)
        views = inside(log).views
        read = views.read_pages

        def parked(stream: StreamId, **asked: Any) -> AsyncIterator[Page]:
            if stream.startswith("task/"):
                raise StreamParked(stream, "events", 1)
            return read(stream, **asked)

        monkeypatch.setattr(views, "read_pages", parked)
        with pytest.raises(StreamParked):
            await log.context(session="monday", task="ticket-9")
