"""The four tests that anybody should ask for: a kill, two writers, a replay, a compaction."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from agentjournal import (
    CompactionRefused,
    ConversationCompacted,
    Log,
    MessageAdded,
    Part,
    TextPart,
    ToolCallPart,
    VersionConflict,
)
from agentjournal.settings import Settings
from tests import warm
from tests.crash.agents.lives import KILLED
from tests.crash.agents.payments import payment_server
from tests.servers import connected, environment_of

pytestmark = pytest.mark.stack

# Kills itself between the charge and its recording, when it is told to.
_PROGRAM = """
import asyncio, os, signal, sys
import agentjournal
from tests.crash.agents.payments import ask

port, session_id, dies = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "dies"

async def find(order, *, call):
    return await ask(port, "find", call.idempotency_key, order) or agentjournal.NOT_DONE

@agentjournal.tool(effect="external", verify=find)
async def pay(order, *, call):
    receipt = await ask(port, "charge", call.idempotency_key, order)
    if dies:
        os.kill(os.getpid(), signal.SIGKILL)
    return receipt

async def main():
    async with agentjournal.connect() as log, log.session(session_id).resume(
        lease_s=0.4, wait_s=10
    ) as run:
        await run.finish_open_calls([pay])

asyncio.run(main())
"""


async def test_killed_in_the_middle_of_a_tool_call_it_charges_once(
    journal: Settings, tmp_path: Path
) -> None:
    program = tmp_path / "agent.py"
    program.write_text(_PROGRAM, encoding="utf-8")
    async with payment_server() as (payments, port), connected(journal) as log:
        asks: list[Part] = [
            ToolCallPart(call_id="c-1", name="pay", arguments_text='{"order": "4711"}')
        ]
        session = log.session("s")
        await session.append(MessageAdded(role="assistant", parts=asks))
        assert await _run(program, log, str(port), "s", "dies") == KILLED
        (cut_off,) = (await log.session("s").load()).open_calls
        assert (cut_off.outcome, cut_off.attempt, payments.charges["4711"]) == ("open", 1, 1)
        assert await _run(program, log, str(port), "s", "goes on") == 0
        call = (await log.session("s").load()).calls["c-1"]
        assert (call.outcome, call.output) == ("completed", "receipt of 4711")
        assert payments.charges["4711"] == 1


async def _run(program: Path, log: Log, *arguments: str) -> int:
    environment = environment_of(log.settings)
    return await warm.start(str(program), arguments, environment, warm.OURS).ended()


async def test_of_two_writers_one_wins_and_the_other_knows(journal: Settings) -> None:
    async with connected(journal) as one, connected(journal, tenant=one.settings.tenant) as two:
        begun = await one.session("s").append(MessageAdded(role="user", content="Book a seat."))
        answers = await asyncio.gather(
            *(
                log.session("s").append(
                    MessageAdded(role="assistant", content=f"{name} booked it."),
                    expected_version=begun.last_version,
                )
                for name, log in (("one", one), ("two", two))
            ),
            return_exceptions=True,
        )
        (lost,) = [each for each in answers if isinstance(each, BaseException)]
        assert isinstance(lost, VersionConflict)
        assert lost.actual_version == begun.last_version + 1
        winner = "one" if answers[1] is lost else "two"
        state = await one.session("s").load()
        assert [m.text for m in state.messages] == ["Book a seat.", f"{winner} booked it."]


async def test_replaying_the_events_gives_the_live_state(journal: Settings) -> None:
    async with connected(journal) as log:
        async with log.session("s", user="u-7").resume() as run:
            await run.say("Add them up: 1\0 and 2.")
            call: list[Part] = [ToolCallPart(call_id="c-1", name="add", arguments_text='{"a": 1}')]
            await run.record(MessageAdded(role="assistant", parts=call))
            await run.finish_open_calls({"add": add})
            await run.window()
            await run.record(MessageAdded(role="assistant", content="Done \ud800."))
            live = run.state
        replayed = await log.session("s").load(at=live.version)
        assert replayed.calls["c-1"].result == {"sum": 1 + 2**70}
        for name in ("messages", "calls", "turn", "turn_id", "seen", "approvals", "user", "status"):
            ours, theirs = getattr(live, name), getattr(replayed, name)
            assert _timeless(ours) == _timeless(theirs), name


def add(a: int) -> dict[str, int]:
    """Add what JSON has no number for."""
    return {"sum": a + 2**70}


def look(order: int) -> str:
    """Look an order up."""
    return f"order {order} is paid"


def _timeless(value: object) -> str:
    """Return a value as text, without the times, which the run has from its own clock."""
    return re.sub(r"'\d{4}-\d\d-\d\dT[\d:.]+Z'", "'…'", repr(value))


async def test_a_compaction_keeps_the_facts_and_never_parts_a_call_from_its_result(
    journal: Settings,
) -> None:
    async with connected(journal) as log:
        session = log.session("s")
        async with session.resume() as run:
            await run.say("My account is ACC-7731-55, refund order 4711 of 129.90 EUR.")
            call: list[Part] = [
                TextPart(text="I look."),
                ToolCallPart(call_id="c-1", name="look", arguments_text='{"order": 4711}'),
            ]
            await run.record(MessageAdded(role="assistant", parts=call))
            await run.finish_open_calls({"look": look})
            await run.window()
            await run.record(MessageAdded(role="assistant", content="It is paid. Shall I?"))
            await run.say("Yes.")
            await run.record(MessageAdded(role="assistant", content="It is on its way."))
        with pytest.raises(CompactionRefused) as refused:
            await session.compact(summary="The user wants a refund.", keep_last=2)
        assert "ACC-7731-55" in refused.value.would_lose
        await session.compact(
            summary="The user wants a refund.", keep_last=2, carry_identifiers=True
        )
        window = await session.window()
        shown = str(window.messages)
        assert all(fact in shown for fact in ("ACC-7731-55", "4711", "129.90"))
        asked = [m for m in window.messages if m.get("tool_calls")]
        results = [m for m in window.messages if m["role"] == "tool"]
        assert len(asked) == len(results)
        (compaction,) = [e async for e in session.events() if e.type == ConversationCompacted.type]
        everything = [e.version async for e in session.events()]
        assert everything == list(range(1, compaction.version + 1))
