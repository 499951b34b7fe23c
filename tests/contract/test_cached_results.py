"""Results of tools that may be used again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agentjournal import (
    AppendRejected,
    CachedResult,
    ConversationRewound,
    EnvironmentChanged,
    Event,
    FileChanged,
    Session,
    SessionDeleted,
    ToolCompleted,
    ToolFailed,
    ToolFailure,
    ToolSettled,
    ToolStarted,
    arguments_digest,
)
from agentjournal.events.tool import Effect
from tests.clients import Clients

ARGUMENTS = {"path": "a.txt", "lines": [1, 2]}


def begun(call_id: str = "c", *, attempt: int = 1, effect: Effect = "read", **named: Any) -> Event:
    arguments = named.get("arguments", ARGUMENTS)
    return ToolStarted(
        call_id=call_id,
        tool="look",
        arguments_text="{}",
        arguments_digest=arguments_digest("look", arguments),
        effect=effect,
        idempotency_key="k",
        attempt=attempt,
        lease_s=60,
    )


def done(output: str, call_id: str = "c", **named: Any) -> Event:
    return ToolCompleted(call_id=call_id, output=output, duration_ms=1, **named)


async def latest(session: Session, **named: Any) -> CachedResult | None:
    return await session.cached_result("look", ARGUMENTS, max_age_s=600, **named)


async def output_of(session: Session, **named: Any) -> Any:
    found = await latest(session, **named)
    return None if found is None else found.output


async def test_the_same_call_has_the_latest_result_of_the_tenant(clients: Clients) -> None:
    result = {"n": 2**70, "half": "\ud800"}
    async with clients.connected() as log, clients.connected() as stranger:
        one, other = log.session("one"), log.session("other")
        assert await latest(one) is None
        receipt = await one.append([begun("c-1"), done("first", "c-1", result=result)])
        found = await latest(one)
        assert found is not None
        assert (found.output, found.result) == ("first", result)
        assert (found.call_id, found.session_id) == ("c-1", "one")
        assert found.version == receipt.last_version
        reordered = {"lines": [1, 2], "path": "a.txt"}
        assert await one.cached_result("look", reordered, max_age_s=600) == found
        assert await one.cached_result("look", {"path": "b.txt"}, max_age_s=600) is None
        assert await one.cached_result("listen", ARGUMENTS, max_age_s=600) is None
        receipt = await other.append([begun("c-1"), done("second", "c-1")])
        await log.caught_up(receipt)
        assert await output_of(one) == "second"
        assert await output_of(one, reads_environment=True) == "first", "of this session only"
        assert await latest(stranger.session("one")) is None


NOT_AGAIN: dict[str, Sequence[Event]] = {
    "another effect": [begun(effect="idempotent"), done("x")],
    "failed": [begun(), ToolFailed(call_id="c", error=ToolFailure(message="no"))],
    "failed, then said to be done": [
        begun(),
        ToolFailed(call_id="c", error=ToolFailure(message="no")),
        done("x"),
    ],
    "not known": [begun()],
    "settled": [
        begun(),
        ToolSettled(call_id="c", outcome="completed", output="x", settled_by="person"),
    ],
    "tried again": [begun(), done("x"), begun(attempt=2)],
    "late, of an attempt before": [begun(), begun(attempt=2), done("x", attempt=1)],
    "tried again with other arguments": [
        begun(arguments={"path": "a.txt", "lines": [1, 2]}),
        begun(attempt=2, arguments={}),
        done("x", attempt=2),
    ],
    "from the cache": [begun(), done("x", cached_from="c-0")],
    "rewound": [begun(), done("x"), ConversationRewound(to_version=1, reason="undo")],
    "deleted": [begun(), done("x"), SessionDeleted(reason="asked for")],
    "never started": [done("x")],
}


@pytest.mark.parametrize("events", NOT_AGAIN.values(), ids=NOT_AGAIN)
async def test_a_result_that_is_none_is_not_used_again(
    clients: Clients, events: Sequence[Event]
) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        await session.append(events)
        assert await latest(session) is None


async def test_what_comes_after_a_rewind_counts(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        await session.append([begun("c-1"), done("kept", "c-1")])
        await session.append([begun("c-2"), done("rewound", "c-2")])
        await session.append(ConversationRewound(to_version=3, reason="undo"))
        assert await output_of(session) == "kept"
        await session.append([begun("c-3"), done("after", "c-3")])
        assert await output_of(session) == "after"


@pytest.mark.parametrize(
    "change", [FileChanged(path="a.txt", reason="edit"), EnvironmentChanged(cwd="/elsewhere")]
)
async def test_what_was_read_of_an_environment_that_changed_is_not_used_again(
    clients: Clients, change: Event
) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        await session.append([begun("c-1"), done("before", "c-1"), begun("c-2")])
        assert await output_of(session, reads_environment=True) == "before"
        await session.append([change, done("begun before", "c-2")])
        assert await latest(session, reads_environment=True) is None
        assert await output_of(session) == "begun before"
        await session.append([begun("c-3"), done("after", "c-3")])
        assert await output_of(session, reads_environment=True) == "after"


async def test_a_result_ages_and_using_it_again_does_not_renew_it(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        await session.append([begun("c-1"), done("x", "c-1")])
        await session.append([begun("c-2"), done("x", "c-2", cached_from="c-1")])
        found = await latest(session)
        assert found is not None
        assert found.call_id == "c-1"
        await clients.time_passes(0.01)
        assert await session.cached_result("look", ARGUMENTS, max_age_s=0) is None
        assert await session.cached_result("look", ARGUMENTS, max_age_s=float("inf")) == found


async def test_what_cannot_be_asked_is_refused(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s")
        for age in (-1, float("nan")):
            with pytest.raises(ValueError, match="max_age_s"):
                await session.cached_result("look", {}, max_age_s=age)
        with pytest.raises(AppendRejected):
            await session.cached_result("look", object(), max_age_s=1)
