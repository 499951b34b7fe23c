"""Which sessions need a worker, and what for."""

from __future__ import annotations

import asyncio

import pytest

from agentjournal import Event, SessionEnded
from tests.clients import Clients
from tests.servers import inside
from tests.work_cases import CASES, ended, handed, said, turn

AGENT = "support"


async def test_a_session_is_found_by_what_it_was_left_with(clients: Clients) -> None:
    async with clients.connected() as log:
        appends = (log.session(name).append(events) for name, (events, _) in CASES.items())
        for receipt in await asyncio.gather(*appends):
            await log.caught_up(receipt)
        servers = inside(log)
        found = await servers.work.runnable(
            log.settings.tenant, "agent", servers.now(), without=["a message"], most=1_000
        )
        of_others = await servers.work.runnable(
            log.settings.tenant, "other", servers.now(), without=[], most=1_000
        )
    expected = {name: left for name, (_, left) in CASES.items() if left and name != "a message"}
    assert {each.session_id: (each.reason, each.version) for each in found + of_others} == expected
    assert [each.session_id for each in of_others] == ["a conversation that was transferred"]
    lengths = {name: 1 + len(events) for name, (events, _) in CASES.items()}
    assert all(each.head_version == lengths[each.session_id] for each in found)


@pytest.mark.parametrize(
    ("child", "is_found"),
    [
        ([said(), turn(2)], False),
        ([said(), turn(2), ended("waiting")], False),
        ([said(), turn(2), ended()], True),
        ([said(), turn(2), ended("limit")], True),
        ([said(), SessionEnded()], True),
    ],
)
async def test_the_result_of_another_agent_is_brought_back_when_it_is_done(
    clients: Clients, child: list[Event], is_found: bool
) -> None:
    request = handed("delegate", child_session_id="child")
    async with clients.connected() as log:
        events = [said(), turn(2), request, ended("waiting")]
        await log.session("parent", agent=AGENT).append(events)
        receipt = await log.session("child", agent="other").append(child)
        await log.caught_up(receipt)
        servers = inside(log)
        found = await servers.work.runnable(
            log.settings.tenant, AGENT, servers.now(), without=[], most=9
        )
    shown = [(each.session_id, each.reason, each.version) for each in found]
    assert shown == ([("parent", "handoff", 4)] if is_found else [])
