"""Reading on real servers: as it was written, as fresh as promised, or an error that says why."""

from __future__ import annotations

import pytest

from agentjournal import (
    IntegrityError,
    NotCaughtUp,
    VersionConflict,
)
from agentjournal.settings import Settings
from tests.servers import connected, projector, query, roles, sequencer
from tests.support import message

pytestmark = pytest.mark.stack


async def test_who_lost_a_race_loads_what_won_it(fresh: Settings) -> None:
    async with roles(fresh, sequencer), connected(fresh) as log:
        slow, fast = log.session("s"), log.session("s")
        async with roles(fresh, projector):
            await slow.append(message("a"))
            assert (await slow.load()).version == 2
        await fast.append(message("b"))
        with pytest.raises(VersionConflict):
            await slow.append(message("c"), expected_version=2)
        with pytest.raises(NotCaughtUp):
            await slow.load(timeout_s=0.3)
        assert (await slow.load(fresh=False)).version == 2
        async with roles(fresh, projector):
            assert (await slow.load()).version == 3


async def test_a_fresh_handle_sees_what_another_had_acknowledged(fresh: Settings) -> None:
    async with (
        roles(fresh, sequencer),
        connected(fresh) as log,
        connected(fresh, tenant=log.settings.tenant) as other,
    ):
        async with roles(fresh, projector):
            await log.session("s").append(message("a"))
            assert (await other.session("s").load()).version == 2
        await log.session("s").append(message("b"))
        with pytest.raises(NotCaughtUp):
            await other.session("s").load(timeout_s=0.3)
        async with roles(fresh, projector):
            assert (await other.session("s").load()).version == 3


async def test_a_handle_reads_what_it_wrote(fresh: Settings) -> None:
    async with roles(fresh, sequencer), connected(fresh) as log:
        session = log.session("s")
        async with roles(fresh, projector):
            await session.append(message("a"))
            assert (await session.load()).version == 2
        pending = await session.enqueue(message("b"))
        await pending.receipt()
        for reading in (session.load, session.window):
            with pytest.raises(NotCaughtUp):
                await reading(timeout_s=0.3)


async def test_events_that_are_missing_or_changed_are_noticed(fresh: Settings) -> None:
    table = "agentjournal_internal.events_1"
    async with roles(fresh, sequencer, projector), connected(fresh) as log:
        for fault in ("first", "middle", "last", "hash", "all"):
            session = log.session(fault)
            await session.append([message("a"), message("b"), message("c")])
            assert (await session.load()).version == 4
            which = {"first": "version = 1", "middle": "version = 3", "last": "version = 4"}
            place = f"WHERE stream = '{session.stream}'"
            if fault == "hash":
                await query(fresh, f"UPDATE {table} SET hash = sha256('') {place} AND version = 4")
            else:
                more = f" AND {which[fault]}" if fault in which else ""
                await query(fresh, f"DELETE FROM {table} {place}{more}")
            with pytest.raises(IntegrityError):
                await session.load()
