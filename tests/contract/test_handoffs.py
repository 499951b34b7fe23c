"""Handoffs: a child session sees what it was given, and its result comes back once."""

from __future__ import annotations

import pytest

import agentjournal
from agentjournal import (
    ConstraintViolated,
    Entity,
    Handoff,
    HandoffNotFound,
    Limit,
    Limits,
    Log,
    MessageAdded,
    ModelCalled,
    Money,
    Parent,
    SessionStarted,
    Tool,
)
from agentjournal.events import Cost
from tests.agents import asks, says, types, work
from tests.clients import Clients
from tests.promoted import PlainExtracting

COUNTED = says("There are 3.")


async def handed(log: Log, **limits: object) -> Handoff:
    """Let a boss hand a task to a counter, and leave its session waiting."""
    given: dict[str, object] = {"context": ["They are green.", {"box": 7}], **limits}
    async with log.session("boss", user="u-7", agent="boss").resume(lease_s=1) as run:
        await run.say("How many beans are there?")
        handoff = await run.hand_off("counter", "Count the beans.", **given)  # type: ignore[arg-type]
        assert (run.waiting, handoff.outcome) == (True, "open")
    return handoff


def child_of(log: Log, handoff: Handoff, agent: str = "counter") -> agentjournal.Session:
    """Return a handle of the child session, as its own agent has it."""
    assert handoff.child_session_id is not None
    return log.session(handoff.child_session_id, agent=agent)


async def test_a_child_sees_what_it_was_given_and_its_result_comes_back(clients: Clients) -> None:
    async with clients.connected() as log, clients.connected(tenant=log.settings.tenant) as other:
        handoff = await handed(log)
        child = child_of(other, handoff)
        cost = Cost(amount="0.10", currency="EUR", source="client")
        called = ModelCalled(
            provider="p",
            request_model="m",
            input_tokens=5,
            output_tokens=2,
            duration_ms=1,
            cost=cost,
        )
        async with child.resume(lease_s=1) as run:
            window = await run.window()
            assert window.messages == [
                {"role": "user", "content": 'Count the beans.\n\nThey are green.\n\n{"box":7}'}
            ]
            assert (run.state.user, run.state.agent) == ("u-7", "counter")
            assert run.handoff is not None
            assert run.handoff.task == "Count the beans."
            await run.record([called, COUNTED])
        async with log.session("boss", agent="boss").resume(lease_s=1) as run:
            [done] = run.state.handoffs.values()
            assert (done.outcome, done.summary) == ("completed", "There are 3.")
            assert done.usage == {
                "model_calls": 1,
                "tool_calls": 0,
                "input_tokens": 5,
                "output_tokens": 2,
                "cost": {"EUR": "0.10"},
            }
            assert not run.answered
            shown = [message["content"] for message in (await run.window()).messages]
            assert shown[1:] == ["[counter has done it: Count the beans.]\nThere are 3."]
            await run.record(says("3."))
        assert await types(log.session("boss"), "handoff") == [
            *("handoff.requested", "handoff.accepted", "handoff.completed"),
        ]
        parent = (await child.load()).parent
        assert parent == Parent(session_id="boss", version=handoff.version, relation="handoff")


async def test_a_child_is_about_whom_its_parent_is_about_and_has_its_limits(
    clients: Clients,
) -> None:
    project = Entity(kind="project", id="p-1")
    limits = Limits(events=Limit(maximum=50, policy="refuse"))
    async with clients.connected() as log:
        boss = log.session("boss", user="u-7", entities=[project], limits=limits, ttl_s=600)
        await boss.append(MessageAdded(role="user", content="Where does the project stand?"))
        handoff = await handed(log)
        [started, *_] = [each.event async for each in child_of(log, handoff).events()]
        assert isinstance(started, SessionStarted)
        assert (started.user, started.entities) == ("u-7", [project])
        assert (started.limits, started.ttl_s) == (limits, 600)


async def test_what_is_handed_over_are_an_agents_words_and_no_users(clients: Clients) -> None:
    async with clients.connected() as log:
        task = "topic = beans\nCount them."
        async with log.session("boss", user="u-7", agent="boss").resume(lease_s=1) as run:
            await run.say("How many beans are there?")
            handoff = await run.hand_off("counter", task)
        child = child_of(log, handoff)
        await child.append(MessageAdded(role="user", content="colour = green"))
        made = await child.promote(extracting=PlainExtracting())
        assert [(each.fact.attribute, each.fact.author_role) for each in made.learned] == [
            ("colour", "user")
        ]
        alone = await child.promote(dry_run=True)
        assert alone.completed.summary == "Asked: topic = beans Count them."


async def test_the_same_handed_over_again_is_the_same_handoff(clients: Clients) -> None:
    async with clients.connected() as log:
        handoff = await handed(log)
        again = await log.session("boss").hand_off(
            "counter", "Count the beans.", context=["They are green.", {"box": 7}]
        )
        assert again == handoff
        other = await log.session("boss").hand_off("counter", "Count the peas.")
        assert other.child_session_id != handoff.child_session_id
        assert await types(log.session("boss"), "handoff") == ["handoff.requested"] * 2
        assert await types(child_of(log, other), "") == ["session.started", "message.added"]


async def test_who_waits_begins_a_child_that_was_not_and_fetches_what_was_not_brought(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        boss = log.session("boss", agent="boss")
        request = agentjournal.HandoffRequested(
            handoff_id="h", mode="delegate", to_agent="counter", task="Count.", child_session_id="c"
        )  # as if the process had died right after it
        await boss.append([MessageAdded(role="user", content="Hello"), request])
        for _ in range(2):
            async with boss.resume(lease_s=1):
                pass
        assert await types(log.session("c"), "") == ["session.started", "message.added"]
        dying = await log.session("c", agent="counter").resume(lease_s=0.3)
        await dying.record(COUNTED)
        await dying.abandon()
        for _ in range(2):
            async with boss.resume(lease_s=1) as run:
                assert run.state.handoffs["h"].summary == "There are 3."
        await clients.time_passes(0.4)
        async with log.session("c", agent="counter").resume(lease_s=1):
            pass
        assert (await types(boss, "handoff.c")) == ["handoff.completed"]


async def test_a_result_may_be_given_in_the_middle_and_the_first_counts(clients: Clients) -> None:
    async with clients.connected() as log:
        handoff = await handed(log)
        async with child_of(log, handoff).resume(lease_s=1) as run:
            given = await run.session.complete_handoff("3", data={"n": 3}, usage="little")
            assert (given.outcome, given.summary, given.data) == ("completed", "3", {"n": 3})
            assert (await run.session.fail_handoff("no")).outcome == "completed"
            await run.record(says("Whatever."))
        state = await log.session("boss").load()
        assert state.handoffs[handoff.handoff_id].summary == "3"
        assert await types(log.session("boss"), "handoff.c", "handoff.f") == ["handoff.completed"]
        with pytest.raises(HandoffNotFound):
            await log.session("boss").complete_handoff("nobody asked")


def counting(counted: list[int]) -> Tool:
    async def count(box: int) -> str:
        counted.append(box)
        return str(box)

    return agentjournal.tool(effect="read")(count)


async def test_calls_that_a_handoff_does_not_allow_are_refused_and_recorded(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        handoff = await handed(log, tools=["count"], max_tool_calls=1)
        counted: list[int] = []
        tools = [counting(counted), agentjournal.tool(name="shell")(counting(counted).function)]
        script = [asks("a", "shell", box=0), asks("b", "count", box=1), asks("c", "count", box=2)]
        child = child_of(log, handoff)
        run = await work(child, [*script, COUNTED], tools)
        assert counted == [1]
        codes = [None if e is None else e.code for e in (run.state.calls[c].error for c in "abc")]
        assert codes == ["constraint_violated", None, "constraint_violated"]
        with pytest.raises(ConstraintViolated) as violated:
            async with child.resume(lease_s=1) as again, again.call("shell", {}, call_id="d"):
                raise AssertionError
        assert (violated.value.constraint, violated.value.value) == ("tools", "shell")
        assert (await child.load()).calls["d"].outcome == "failed"
        assert (await log.session("boss").load()).handoffs[
            handoff.handoff_id
        ].outcome == "completed"


@pytest.mark.parametrize("begun", [True, False])
async def test_after_the_deadline_nothing_more_is_done_and_the_handoff_has_failed(
    clients: Clients, begun: bool
) -> None:
    async with clients.connected() as log:
        handoff = await handed(log, deadline_in_s=60)
        if begun:
            async with child_of(log, handoff).resume(lease_s=0.1) as run:
                await run.record(asks("a", "count", box=1))
        later = clients.seen_later(log, 61)
        counted: list[int] = []
        with pytest.raises(ConstraintViolated) as violated:
            await work(child_of(later, handoff), [COUNTED], [counting(counted)])
        assert (violated.value.constraint, counted) == ("deadline_at", [])
        boss = await log.session("boss").load()
        failed = boss.handoffs[handoff.handoff_id]
        assert failed.error is not None
        assert (failed.outcome, failed.error.code) == ("failed", "deadline_at")
        assert boss.turn is not None
        assert boss.turn.resume_at == violated.value.limit
        child = await child_of(log, handoff).load()
        assert child.turn is not None
        assert child.turn.reason == "limit"


async def test_who_waits_is_done_waiting_at_the_deadline_though_nobody_worked(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        handoff = await handed(log, deadline_in_s=60)
        async with log.session("boss", agent="boss").resume(lease_s=0.1) as run:
            assert run.answered
        later = clients.seen_later(log, 61)
        async with later.session("boss", agent="boss").resume(lease_s=1) as run:
            assert not run.answered
            assert run.state.handoffs[handoff.handoff_id].outcome == "failed"


async def test_tokens_and_money_are_limits_too(clients: Clients) -> None:
    async with clients.connected() as log:
        limits = {"max_tokens": 10, "max_cost": Money(amount="0.30", currency="EUR")}
        cost = Cost(amount="0.10", currency="EUR", source="client")
        for name, limit in limits.items():
            handoff = await handed(log, **{name: limit}, handoff_id=name)
            async with child_of(log, handoff).resume(lease_s=1) as run:
                for number in range(3):
                    await run.window()
                    called = ModelCalled(
                        provider="p",
                        request_model="m",
                        input_tokens=3,
                        output_tokens=1,
                        duration_ms=1,
                        cost=cost,
                    )
                    await run.record([called, asks(f"c-{number}", "count", box=1)])
                with pytest.raises(ConstraintViolated, match=name):
                    await run.window()
            failed = (await log.session("boss").load()).handoffs[name]
            assert failed.error is not None
            assert failed.error.code == name


async def test_a_transferred_conversation_is_the_other_agents(clients: Clients) -> None:
    async with clients.connected() as log:
        async with log.session("s", agent="support").resume(lease_s=1) as run:
            await run.say("I want my money back.")
            await run.hand_off("billing", "They want a refund.", mode="transfer")
            assert (run.answered, run.waiting) == (True, False)
        async with log.session("s", agent="support").resume(lease_s=1) as run:
            assert run.answered
        async with log.session("s", agent="billing").resume(lease_s=1) as run:
            assert (run.answered, run.state.agent) == (False, "billing")
            shown = [message["content"] for message in (await run.window()).messages]
            assert shown == [
                *("I want my money back.", "[Handed over to billing]\nThey want a refund."),
            ]
            await run.record(says("You get it."))
            assert run.answered
        turns = [
            e.data["trigger"] async for e in log.session("s").events() if e.type == "turn.started"
        ]
        assert turns == ["user", "handoff"]
        with pytest.raises(agentjournal.AppendRejected, match="max_tokens"):
            await log.session("s").hand_off("x", "y", mode="transfer", max_tokens=1)


async def test_a_session_id_that_is_taken_fails_the_handoff(clients: Clients) -> None:
    async with clients.connected() as log:
        await log.session("c").append(MessageAdded(role="user", content="Mine."))
        async with log.session("boss", agent="boss").resume(lease_s=1) as run:
            await run.say("Go.")
            handoff = await run.hand_off("counter", "Count.", child_session_id="c")
            assert handoff.error is not None
            assert (handoff.outcome, handoff.error.type) == ("failed", "session_taken")
            assert not run.answered
        assert len([e async for e in log.session("c").events()]) == 2


async def test_who_does_without_runs_says_by_hand_that_a_handoff_is_accepted(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        handoff = await handed(log)
        for _ in range(2):
            await child_of(log, handoff).accept_handoff()
        boss = log.session("boss", agent="boss")
        assert await types(boss, "handoff") == ["handoff.requested", "handoff.accepted"]
        moved = await boss.hand_off("billing", "Go on.", mode="transfer")
        for _ in range(2):
            await boss.accept_handoff(moved.handoff_id)
        assert await types(boss, "handoff.a") == ["handoff.accepted"] * 2
        assert (await boss.load()).agent == "billing"
        with pytest.raises(HandoffNotFound):
            await boss.accept_handoff("no-such")
