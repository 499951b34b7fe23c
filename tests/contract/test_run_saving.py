"""A run saves the agent's state when its policy says so, and streams answers that end the turn."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentjournal import AppendRejected, CheckpointPolicy, Delta, MessageAdded, ModelCalled, Run
from agentjournal.events.tool import Effect
from tests.clients import Clients


async def one_call(run: Run, name: str, effect: Effect) -> None:
    """Make a call that completes."""
    async with run.call(name, {}, effect=effect, call_id=name) as call:
        await call.complete("ok")


async def saved(run: Run) -> list[tuple[int, object]]:
    """Return (version, state) of the checkpoints of a run's session."""
    events = [e async for e in run.session.events() if e.type == "checkpoint.saved"]
    return [(event.version, event.data["state"]) for event in events]


async def test_a_checkpoint_follows_each_effect_and_precedes_what_is_external(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        done: list[str] = []
        policy = CheckpointPolicy(after_effects=True, before_external=True, keep=1)
        resumed = log.session("s").resume(checkpoints=policy, checkpoint=lambda: list(done))
        async with resumed as run:
            steps: list[tuple[str, Effect]] = [
                ("look", "read"),
                ("write", "idempotent"),
                ("pay", "external"),
            ]
            for name, effect in steps:
                await one_call(run, name, effect)
                done.append(name)
            types = [e.type async for e in run.session.events()]
            assert types[2:] == [
                *("tool.started", "tool.completed"),
                *("tool.started", "tool.completed", "checkpoint.saved"),
                *("tool.started", "tool.completed", "checkpoint.saved"),
            ]
            assert [state for _, state in await saved(run)] == [["look"], ["look", "write"]]
            assert await run.restore_checkpoint() == ["look", "write"]
            assert run.state.version == len(types) + 1


async def test_an_effect_that_ends_while_another_one_is_saved_is_saved_too(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        done: list[str] = []
        is_saving = asyncio.Event()

        def snapshot() -> list[str]:
            is_saving.set()
            return list(done)

        async def second(run: Run) -> None:
            async with run.call("b", {}, effect="idempotent", call_id="b") as call:
                await is_saving.wait()
                done.append("b")
                await call.complete("ok")

        policy = CheckpointPolicy(after_effects=True)
        async with log.session("s").resume(checkpoints=policy, checkpoint=snapshot) as run:
            going = asyncio.create_task(second(run))
            done.append("a")
            await one_call(run, "a", "idempotent")
            await going
            assert [state for _, state in await saved(run)] == [["a"], ["a", "b"]]
            assert await run.restore_checkpoint() == ["a", "b"]


async def test_what_was_written_since_is_saved_before_an_external_effect(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        policy = CheckpointPolicy(after_effects=False, before_external=True)

        async def snapshot() -> str:
            return "before"

        async with log.session("s").resume(checkpoints=policy, checkpoint=snapshot) as run:
            await run.say("Pay.")
            await one_call(run, "pay", "external")
            types = [e.type async for e in run.session.events()]
        assert types[-3:] == ["checkpoint.saved", "tool.started", "tool.completed"]


async def test_a_policy_comes_with_what_to_save(clients: Clients) -> None:
    async with clients.connected() as log:
        with pytest.raises(ValueError, match="give both"):
            log.session("s").resume(checkpoints=CheckpointPolicy())


async def test_a_label_that_is_no_text_is_refused(clients: Clients) -> None:
    async with clients.connected() as log, log.session("s").resume() as run:
        label: Any = 3
        for handle in (run, run.session):
            with pytest.raises(AppendRejected, match="label"):
                await handle.save_checkpoint({}, label=label)
        assert await saved(run) == []


async def test_an_answer_that_was_streamed_ends_the_turn(clients: Clients) -> None:
    async with clients.connected() as log, log.session("s").resume() as run:
        await run.say("Hello?")
        async with run.stream_message() as message:
            await message.write("Good ")
            await message.write("day.")
        assert run.answered
        assert run.state.messages[-1].text == "Good day."


async def test_a_message_that_a_dead_worker_streamed_is_recorded_by_the_next(
    clients: Clients,
) -> None:
    async with clients.connected() as log:
        run = await log.session("s").resume(worker="w-1", lease_s=0.3)
        await run.say("Tell me.", message_id="m-1")
        message = run.stream_message(message_id="m-2")
        await message.write("Once upon")
        async for item in log.session("s").live(after=run.state.version):
            if isinstance(item, Delta):  # the lease may have been renewed before
                assert item.text == "Once upon"
                break
        await run.abandon()
        async with log.session("s").resume(worker="w-2", lease_s=0.3, wait_s=5) as then:
            await then.refresh()
            found = [(m.message_id, m.text, m.status) for m in then.state.messages]
            assert found[1:] == [("m-2", "Once upon", "incomplete")]
            assert not then.answered


async def test_a_model_that_paused_is_asked_again(clients: Clients) -> None:
    async with clients.connected() as log, log.session("s").resume() as run:
        await run.say("Search.")
        paused = ModelCalled(
            model_call_id="mc-1",
            provider="anthropic",
            request_model="m",
            input_tokens=1,
            output_tokens=1,
            duration_ms=1,
            finish_reason="pause_turn",
            status="completed",
            attempt=1,
        )
        await run.record([MessageAdded(role="assistant", content="I look."), paused])
        assert not run.answered
