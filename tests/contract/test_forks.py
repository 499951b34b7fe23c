"""Forks: parent and fork go on without each other."""

from __future__ import annotations

import pytest

from agentjournal import (
    Log,
    Session,
    SessionMismatch,
    SessionNotFound,
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
