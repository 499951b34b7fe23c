"""Sessions that expired, and sessions at their limits."""

from __future__ import annotations

import asyncio

import pytest

from agentjournal import (
    AppendRejected,
    Limit,
    LimitExceeded,
    Log,
    MessageAdded,
    NoteSet,
    Run,
    Session,
    SessionExpired,
    SessionUpdated,
    VersionConflict,
)
from tests.clients import Clients
from tests.support import message


async def expired(log: Log, name: str) -> Session:
    """Return a session with a note that has expired."""
    session = log.session(name, agent="support")
    receipt = await session.append([message("a"), NoteSet(key="k", value="v")])
    await session.append(SessionExpired(idle_s=0), expected_version=receipt.last_version)
    return session


async def test_an_expired_session_keeps_everything_but_shows_no_notes(clients: Clients) -> None:
    async with clients.connected() as log:
        session = await expired(log, "s")
        state = await session.load()
        assert (state.status, [m.text for m in state.messages]) == ("expired", ["a"])
        assert await session.notes() == {}
        assert state.notes == {}


async def test_who_resumes_an_expired_session_has_its_notes_back(clients: Clients) -> None:
    async with clients.connected() as log:
        session = await expired(log, "s")
        async with session.resume(worker="w-1") as run:
            assert run.state.status == "open"
            assert run.state.notes["k"].value == "v"
        assert await session.notes() == {"k": "v"}
        types = [recorded.type async for recorded in session.events()]
        assert types.count("session.resumed") == 1
        async with session.resume(worker="w-2"):
            pass
        assert [r.type async for r in session.events()].count("session.resumed") == 1


async def test_a_message_to_an_expired_session_is_found_by_workers(clients: Clients) -> None:
    async with clients.connected() as log:
        session = await expired(log, "s")
        await session.append(message("are you there?"))

        working = log.work(agent="support", poll_s=0.02)
        seen: list[tuple[str, list[str]]] = []

        async def answer(run: Run) -> None:
            seen.append((run.state.status, [m.text for m in run.inbox]))
            await run.record(MessageAdded(role="assistant", content="Yes."))
            working.stop()

        async with asyncio.timeout(30):
            await working.run(answer)
        assert seen == [("open", ["a", "are you there?"])]


async def test_a_message_that_comes_first_wins_over_expiry(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        receipt = await session.append(message("a"))
        await session.append(message("b"))
        with pytest.raises(VersionConflict):
            await session.append(SessionExpired(idle_s=0), expected_version=receipt.last_version)
        with pytest.raises(AppendRejected) as refused:
            await session.append(SessionExpired(idle_s=60), expected_version=3)
        assert refused.value.path == "events[0].data.idle_s"
        assert (await session.load()).status == "open"


async def test_a_session_at_its_limit_refuses_more_and_says_what_to_do(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s", limits={"events": Limit(maximum=2, policy="refuse")})
        await session.append(message("a"))
        with pytest.raises(LimitExceeded) as refused:
            await session.append(message("b"))
        error = refused.value
        assert (error.limit, error.value, error.maximum) == ("events", 3, 2)
        assert "SessionUpdated" in str(error)
        raised = {"events": {"maximum": 4, "policy": "refuse"}}
        await session.append(SessionUpdated.model_validate({"limits": raised}))
        await session.append(message("b"))
        assert [m.text for m in (await session.load()).messages] == ["a", "b"]


async def test_a_turn_that_meets_a_limit_ends_and_nobody_tries_again(clients: Clients) -> None:
    async with clients.connected() as log:
        limits: dict[str, Limit | int] = {"tokens": 5, "events": Limit(maximum=4, policy="refuse")}
        session = log.session("s", agent="support", limits=limits)
        async with session.resume(worker="w") as run:
            await run.say("a")
            await run.window(max_tokens=8_000)
            with pytest.raises(LimitExceeded):
                await run.record(MessageAdded(role="assistant", content="b"))
        events = [recorded async for recorded in session.events()]
        (ended,) = [e.data for e in events if e.type == "turn.ended"]
        assert (ended["reason"], ended["error"]["type"]) == ("limit", "limit_exceeded")
        state = await session.load()
        assert (state.turn_id, [m.text for m in state.messages]) == (None, ["a"])
        async with session.resume(worker="other") as run:
            assert not run.inbox


@pytest.mark.parametrize(
    "limits", [{"event": 1}, {"events": -1}, {"packages": Limit(maximum=1, policy="refuse")}]
)
async def test_what_is_no_limit_is_refused_by_name(
    clients: Clients, limits: dict[str, int]
) -> None:
    async with clients.connected() as log:
        with pytest.raises(AppendRejected) as refused:
            log.session("s", limits=limits)
        assert refused.value.path == "limits"
        assert next(iter(limits)) in refused.value.reason
