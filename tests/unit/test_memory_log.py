"""A log in memory: its clock, its clients, and what becomes of what is on its way."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentjournal as aj
from agentjournal.testing import Clock, MemoryLog, memory_log
from tests.servers import eventually, inside
from tests.support import message

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


async def test_an_append_takes_a_millisecond_and_nothing_else_takes_time() -> None:
    log = memory_log(at=NOON)
    session = log.session("s")
    for text in ("a", "b"):
        await session.append(message(text))
        await session.load()
        await session.notes()
    assert log.clock.now() == NOON + timedelta(milliseconds=2)
    recorded = [event.recorded_at async for event in session.events()]
    first, second = "2026-01-31T12:00:00.001Z", "2026-01-31T12:00:00.002Z"
    assert recorded == [first, first, second]


async def test_an_append_that_fails_does_not_disturb_a_load_that_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = memory_log()
    session = log.session("s")
    await session.append(message("a"))
    views = inside(log).views
    wait = views.wait_for_input
    may_go_on = asyncio.Event()

    async def held(*args: Any, **named: Any) -> None:
        await may_go_on.wait()
        await wait(*args, **named)

    monkeypatch.setattr(type(views), "wait_for_input", staticmethod(held))
    loading = asyncio.create_task(session.load())
    await asyncio.sleep(0)
    with pytest.raises(aj.VersionConflict):
        await session.append(message("b"), expected_version=1)
    assert not loading.done()
    may_go_on.set()
    assert (await loading).summary.last_version == 2


async def test_a_note_and_a_result_age_when_the_clock_is_moved() -> None:
    log = memory_log()
    session = log.session("s")
    await session.set_note("short", 1, ttl_s=60)
    log.clock.advance(59.9)
    assert await session.notes() == {"short": 1}
    log.clock.advance(0.1)
    assert await session.notes() == {}


async def test_a_lease_passes_when_the_clock_is_moved() -> None:
    log = memory_log()
    held = await log.session("s").resume(worker="first", lease_s=60)
    with pytest.raises(aj.LeaseHeld):
        await log.beside().session("s").resume(worker="second")
    log.pass_leases()
    run = await log.beside().session("s").resume(worker="second")
    assert run.worker == "second"
    with pytest.raises(aj.LeaseLost):
        await held.say("late")
    await run.release()
    await held.release()


async def test_who_sleeps_by_the_clock_moves_it() -> None:
    clock = Clock(NOON)
    await asyncio.gather(clock.sleep(60), clock.sleep(30))
    assert clock.now() >= NOON + timedelta(seconds=60)


def test_times_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="has no zone"):
        memory_log(at=datetime(2026, 1, 31))  # noqa: DTZ001 - that is the fault
    for seconds in (-1, float("nan")):
        with pytest.raises(ValueError, match="not a time"):
            Clock().advance(seconds)


async def test_another_client_has_the_same_log_and_clock() -> None:
    log = memory_log(tenant="acme")
    other, stranger = log.beside(), log.beside(tenant="else")
    await log.session("s").append(message("a"))
    assert (await other.session("s").load()).version == 2
    with pytest.raises(aj.SessionNotFound):
        await stranger.session("s").load()
    assert other.clock is log.clock
    assert log.streams() == [("session", "acme", "s")]


@pytest.mark.parametrize("landed", [0, 1])
async def test_what_is_on_its_way_at_a_cut_is_lost_or_lands(landed: int) -> None:
    log = memory_log()
    client = log.beside()
    waiting = asyncio.create_task(client.session("s").append(message("a"), timeout_s=0.05))
    await eventually(lambda: client.on_their_way)
    client.cut(landed=landed)
    with pytest.raises((aj.AppendOutcomeUnknown, aj.Unavailable)):
        await waiting
    with pytest.raises(aj.Unavailable):
        await client.session("s").append(message("b"), timeout_s=0.05)
    assert log.streams() == ([("session", "default", "s")] if landed else [])


async def test_others_of_a_group_get_what_a_client_that_was_cut_off_had_not_handled() -> None:
    log = memory_log()
    for number in range(3):
        await log.session("s").append(message(str(number)))
    dead, alive = log.beside(), log.beside()
    handling = dead.subscribe(group="g", types=["message.added"])
    assert (await anext(handling)).version == 2
    dead.cut()
    found = alive.subscribe(group="g", types=["message.added"])
    assert [(await anext(found)).version for _ in range(3)] == [2, 3, 4]


async def test_a_fixture_gives_a_log_of_the_test_s_own(agentjournal_log: MemoryLog) -> None:
    assert agentjournal_log.streams() == []
    await agentjournal_log.session("s").append(message("a"))


@given(
    st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.booleans()), min_size=1, max_size=12)
)
def test_what_was_acknowledged_is_there_once_whoever_is_cut_off(
    steps: list[tuple[int, bool, bool]],
) -> None:
    """Three clients write under append ids of their own, some are cut off and write it again."""

    async def written() -> tuple[list[str], list[str]]:
        log = memory_log()
        clients = [log.beside() for _ in range(3)]
        acknowledged: list[str] = []
        for number, (who, is_cut, landed) in enumerate(steps):
            text = str(number)
            append = clients[who].session("s").append(message(text), append_id=text, timeout_s=9)
            task = asyncio.create_task(append)
            if is_cut:
                await eventually(lambda: clients[who].on_their_way)  # noqa: B023 - awaited here
                clients[who].cut(landed=landed)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                clients[who] = log.beside()
                append = clients[who].session("s").append(message(text), append_id=text)
                assert (await append).duplicate == landed
            else:
                await task
            acknowledged.append(text)
        found = await log.session("s").load()
        return acknowledged, [each.text for each in found.messages]

    acknowledged, found = asyncio.run(written())
    assert acknowledged == found
