"""Redriving on real servers: nothing of a parked stream is lost, and nothing counts twice."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from agentjournal import Log, Receipt, StreamParked
from agentjournal.settings import Settings
from commands.errors import CommandFailed
from commands.parked import redriven
from tests.crash.row_check import check_rows, everything_projected
from tests.servers import connected, projector, query, roles, sequencer
from tests.support import message

pytestmark = pytest.mark.stack

POISON = (
    "ALTER TABLE agentjournal_internal.messages_1 ADD CONSTRAINT no_poison"
    " CHECK (content NOT LIKE 'poison%')"
)
MESSAGES = "SELECT * FROM agentjournal.messages ORDER BY message_id"
MENDED = "ALTER TABLE agentjournal_internal.messages_1 DROP CONSTRAINT no_poison"


async def poisoned(log: Log, count: int) -> list[str]:
    """Append to sessions what parks them; return their streams."""
    last: list[Receipt] = []
    for n in range(count):
        session = log.session(f"poisoned-{n}")
        await session.append([message("before"), message(f"poison {n}"), message("behind")])
        last.append(await session.append(message("later")))
    for receipt in last:
        with pytest.raises(StreamParked):
            await log.caught_up(receipt)
    return [receipt.stream for receipt in last]


async def test_a_redriven_stream_is_as_if_it_had_never_been_parked(fresh: Settings) -> None:
    await query(fresh, POISON)
    async with roles(fresh, sequencer, projector), connected(fresh) as log:
        [stream] = await poisoned(log, 1)
        await query(fresh, MENDED)
        [done] = await redriven(fresh, [], None)
        # The start and two messages of four were there before it stopped.
        assert (done.projection, done.stream, done.version) == ("conversation", stream, 3)
        assert (done.applied, done.error) == (3, None)
        assert await query(fresh, "SELECT FROM agentjournal.parked") == []
        session = log.session("poisoned-0")
        await log.caught_up(await session.append(message("new")))
        texts = [m.text for m in (await session.load()).messages]
        assert texts == ["before", "poison 0", "behind", "later", "new"]
        await everything_projected(fresh)
        assert await check_rows(fresh) > 0
    assert await redriven(fresh, [], None) == []


async def test_what_is_logged_of_a_parked_stream_holds_none_of_its_content(
    fresh: Settings,
) -> None:
    await query(fresh, POISON)
    with capture_logs() as logs:
        async with roles(fresh, sequencer, projector), connected(fresh) as log:
            [stream] = await poisoned(log, 1)
    [parked] = [line for line in logs if line["event"] == "stream_parked"]
    assert (parked["stream"], parked["version"], parked["kind"]) == (stream, 3, "CheckViolation")
    assert "poison 0" not in str(logs)


async def test_what_still_cannot_be_applied_stays_parked_and_changes_nothing(
    fresh: Settings,
) -> None:
    await query(fresh, POISON)
    async with roles(fresh, sequencer, projector), connected(fresh) as log:
        [stream] = await poisoned(log, 1)
        before = await query(fresh, MESSAGES)
        [done] = await redriven(fresh, [stream], "conversation")
        assert done.applied == 0
        assert done.error is not None
        assert "no_poison" in done.error
        assert "poison 0" not in done.error
        assert (
            await query(fresh, "SELECT * FROM agentjournal.messages ORDER BY message_id") == before
        )
        [row] = await query(fresh, "SELECT version FROM agentjournal.parked")
        assert row == {"version": 3}
        with pytest.raises(CommandFailed, match="not parked: session/default/other"):
            await redriven(fresh, ["session/default/other"], None)
        with pytest.raises(CommandFailed, match="no read model nothing"):
            await redriven(fresh, [], "nothing")


async def test_streams_are_redriven_while_new_events_arrive_for_them(fresh: Settings) -> None:
    await query(fresh, POISON)
    async with roles(fresh, sequencer, projector), connected(fresh) as log:
        streams = await poisoned(log, 6)
        await query(fresh, MENDED)
        stop = asyncio.Event()

        async def go_on(name: str) -> int:
            count = 0
            while not stop.is_set():
                await log.session(name).append(message(f"more {count}"))
                count += 1
            return count

        names = [stream.split("/")[2] for stream in streams]
        async with asyncio.TaskGroup() as group:
            writing = [group.create_task(go_on(name)) for name in names]
            done = [each for stream in streams for each in await redriven(fresh, [stream], None)]
            stop.set()
        assert [each.error for each in done] == [None] * 6
        for task in writing:
            assert task.result() > 0
        await everything_projected(fresh)
        assert await check_rows(fresh) > 0
        counts = await query(fresh, "SELECT messages FROM agentjournal.sessions")
        assert sorted(row["messages"] for row in counts) == sorted(4 + t.result() for t in writing)
