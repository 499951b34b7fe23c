"""Sessions that expired, and sessions at their limits."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from agentjournal import (
    AppendRejected,
    CheckpointPolicy,
    Delta,
    Limit,
    LimitExceeded,
    Log,
    MessageAdded,
    ModelCalled,
    NoteSet,
    PlannedStep,
    Run,
    Session,
    SessionExpired,
    SessionUpdated,
    TextPart,
    VersionConflict,
)
from agentjournal.events import Limits
from agentjournal.limits import TenantLimits
from tests.clients import Clients
from tests.servers import inside
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


def refusing(**limits: int) -> dict[str, Limit | int]:
    return {name: Limit(maximum=most, policy="refuse") for name, most in limits.items()}


def called(model_call_id: str = "mc-1") -> ModelCalled:
    return ModelCalled(
        model_call_id=model_call_id,
        provider="p",
        request_model="m",
        input_tokens=70,
        output_tokens=5,
        duration_ms=1,
    )


async def answer(of: Session | Run, *, streams: bool) -> None:
    """Record what a model said, with what it cost."""
    if streams:
        await of.stream_message().finish(parts=[TextPart(text="b")], events=[called()])
    else:
        await of.record([MessageAdded(role="assistant", content="b"), called()])


@pytest.mark.parametrize("streams", [False, True])
async def test_what_a_model_cost_is_recorded_though_its_answer_is_refused(
    clients: Clients, *, streams: bool
) -> None:
    async with clients.connected() as log:
        session = log.session("s", agent="support", limits=refusing(events=4))
        async with session.resume(worker="w") as run:
            await run.say("a")
            with pytest.raises(LimitExceeded):
                await answer(run, streams=streams)
            assert run.state.usage.input_tokens == 70
            assert (run.state.turn_id, run.answered) == (None, True)
        state = await session.load()
        assert (state.usage.model_calls, [m.text for m in state.messages]) == (1, ["a"])


@pytest.mark.parametrize("streams", [False, True])
async def test_without_a_lease_too_what_a_model_cost_is_recorded(
    clients: Clients, *, streams: bool
) -> None:
    async with clients.connected() as log:
        session = log.session("s", agent="support", limits=refusing(events=2))
        await session.append(message("a"))
        with pytest.raises(LimitExceeded):
            await answer(session, streams=streams)
        assert [r.type async for r in session.events()][2:] == ["model.called"]


async def test_a_step_that_ended_has_done_so_though_what_goes_with_it_is_refused(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        session = log.session("s", agent="support", limits=refusing(events=3))
        plan = await session.plan("goal", steps=[PlannedStep(step_id="pay", title="pay")])
        with pytest.raises(LimitExceeded):
            async with plan.run("pay") as attempt:
                await attempt.complete({"paid": 5}, also=[NoteSet(key="k", value="v")])
        state = await session.load()
        (held,) = state.plans.values()
        assert (held.known["pay"].outcome, state.notes) == ("completed", {})
        assert [r.type async for r in session.events()][3:] == ["step.completed"]


async def test_a_call_ended_though_the_checkpoint_behind_it_is_refused(clients: Clients) -> None:
    async with clients.connected() as log:
        session = log.session("s", agent="support", limits=refusing(events=5))
        policy = CheckpointPolicy()
        taken = session.resume(worker="w", checkpoints=policy, checkpoint=lambda: {"at": 1})
        async with taken as run:
            await run.say("a")
            async with run.call("pay", {}) as call:
                await call.complete("paid")
            assert [each.output for each in run.completed] == ["paid"]


async def test_a_message_that_was_cut_off_does_not_keep_workers_from_a_session_at_its_limit(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        session = log.session("s", agent="support", limits=refusing(events=4))
        async with session.resume(worker="w-1") as run:
            await run.say("a")
            writing = run.stream_message()
            await writing.write("b")
            async with asyncio.timeout(10):
                async for item in session.live(after=4):
                    if isinstance(item, Delta):
                        break
            with pytest.raises(LimitExceeded):
                await writing.finish()
        async with session.resume(worker="w-2") as run:
            assert run.answered
            await run.append(SessionUpdated.model_validate({"limits": {"events": {"maximum": 99}}}))
        async with session.resume(worker="w-3") as run:
            assert [m.text for m in (await run.refresh()).messages] == ["a", "b"]


async def test_an_agent_begins_what_was_handed_over_by_a_session_at_its_limit(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        # The start, the lease, a turn and its message, the handoff and the end of the turn.
        boss = log.session("boss", agent="boss", limits=refusing(events=6))
        async with boss.resume(worker="w") as run:
            await run.say("How many?")
            handoff = await run.hand_off("counter", "Count.")
        assert handoff.child_session_id is not None
        child = log.session(handoff.child_session_id, agent="counter")
        async with child.resume(worker="c") as run:
            await run.record(MessageAdded(role="assistant", content="3"))
        # Another handle wrote the result: one that has written nothing waits for all there is.
        state = await log.session("boss").load()
        assert state.handoffs[handoff.handoff_id].outcome == "completed"
        assert "handoff.accepted" in [r.type async for r in boss.events()]


async def test_a_handoff_fails_whose_child_is_over_a_limit_of_its_tenant_from_the_start(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        limits = TenantLimits(limits=Limits(bytes=Limit(maximum=2_000, policy="refuse")))
        limited = Log(log.settings, servers=replace(inside(log), limits=limits))
        # It began before there were limits: its own would be those of its child, too.
        await log.session("boss", agent="boss").append(message("How many?"))
        boss = limited.session("boss", agent="boss")
        async with boss.resume(worker="w") as run:
            handoff = await run.hand_off("counter", "Count.", context=["x" * 3_000])
            assert handoff.outcome == "failed"
        async with boss.resume(worker="w-2") as run:
            assert not run.waiting


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
