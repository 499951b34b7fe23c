"""Forks: parent and fork go on without each other."""

from __future__ import annotations

import pytest

from agentjournal import (
    AppendRejected,
    Entity,
    Limit,
    LimitExceeded,
    Limits,
    Log,
    Session,
    SessionDeleted,
    SessionMismatch,
    SessionNotFound,
    SessionStarted,
    SessionUpdated,
    StreamDeleted,
    VersionConflict,
    VersionNotFound,
)
from tests.clients import Clients
from tests.support import message


async def texts(session: Session, at: int | None = None) -> list[str]:
    return [m.text for m in (await session.load(at=at)).messages]


async def parent_of(log: Log) -> Session:
    session = log.session("p", user="u", agent="support", title="Refund")
    await session.append([message("a"), message("b"), message("c")])
    return session


async def test_parent_and_fork_go_on_without_each_other(clients: Clients) -> None:
    async with clients.connected() as log:
        parent = await parent_of(log)
        fork = await log.session("p").fork(at=3, session_id="f")
        await parent.append(message("d"))
        await fork.append(message("e"))
        assert await texts(parent) == ["a", "b", "c", "d"]
        for handle in (fork, log.session("f", user="u")):
            assert await texts(handle) == ["a", "b", "e"]
            assert await texts(handle, at=0) == ["a", "b"]
            shown = [m["content"] for m in (await handle.window()).messages]
            assert shown == ["a", "b", "e"]
        await fork.compact(summary="short", keep_last=1)
        assert len((await fork.window()).messages) == 2
        child = await fork.fork(title="again")
        assert await texts(child) == ["a", "b", "e"]
        await log.caught_up(await child.append(message("f")))
        assert [m["content"] for m in (await child.window()).messages][-2:] == ["e", "f"]
        [first, *_] = [e async for e in child.events()]
        assert first.data["parent"] == {"session_id": "f", "version": 3, "relation": "fork"}


async def test_an_empty_name_is_none(clients: Clients) -> None:
    async with clients.connected() as log:
        parent = await parent_of(log)
        with pytest.raises(AppendRejected, match="must have 1 to 255 characters"):
            await parent.fork(session_id="")


async def test_a_fork_is_about_whom_its_parent_was_about_then_and_has_its_limits(
    clients: Clients,
) -> None:
    project, account = Entity(kind="project", id="p-1"), Entity(kind="account", id="a-1")
    most = Limit(maximum=5, policy="refuse")
    async with clients.connected() as log:
        parent = log.session("p", user="u", entities=[project], limits={"events": 9}, ttl_s=60)
        await parent.append(message("a"))
        limited = SessionUpdated(limits=Limits(events=most, bytes=Limit(maximum=10**6)), ttl_s=90)
        last = (await parent.append(limited)).last_version
        small = Limit(maximum=10**4)
        await parent.append(SessionUpdated(entities=[account], limits=Limits(bytes=small)))
        fork = await parent.fork(at=last, session_id="f")
        [first] = [e.event async for e in fork.events()]
        assert isinstance(first, SessionStarted)
        assert (first.user, first.entities, first.ttl_s) == ("u", [project], 90)
        assert first.limits == Limits(events=most, bytes=Limit(maximum=10**6))
        for _ in range(4):
            await fork.append(message("b"))
        with pytest.raises(LimitExceeded):
            await fork.append(message("c"))
        again = await (await parent.fork()).fork()
        [first] = [e.event async for e in again.events()]
        assert isinstance(first, SessionStarted)
        assert (first.entities, first.limits) == ([account], Limits(events=most, bytes=small))


async def test_what_cannot_be_forked_is_said_and_nothing_is_written(clients: Clients) -> None:
    async with clients.connected() as log:
        parent = await parent_of(log)
        await log.session("other", user="v").append(message("x"))
        with pytest.raises(SessionNotFound):
            await log.session("nobody").fork(session_id="f")
        with pytest.raises(VersionNotFound):
            await parent.fork(at=5, session_id="f")
        with pytest.raises(ValueError, match="version 0"):
            await parent.fork(at=0, session_id="f")
        with pytest.raises(SessionMismatch):
            await log.session("p", user="v").fork(session_id="f")
        with pytest.raises(SessionMismatch):
            await parent.fork(session_id="other")
        with pytest.raises(VersionConflict):
            await parent.fork(session_id="p")
        with pytest.raises(SessionNotFound):
            await log.session("f").load()


@pytest.mark.parametrize("at", [None, 2])
async def test_nothing_goes_on_from_a_session_that_was_deleted(
    clients: Clients, at: int | None
) -> None:
    async with clients.connected() as log:
        parent = await parent_of(log)
        await parent.append(SessionDeleted(reason="asked for"))
        with pytest.raises(StreamDeleted):
            await log.session("p").fork(at=at, session_id="f")
        with pytest.raises(SessionNotFound):
            await log.session("f").load()
