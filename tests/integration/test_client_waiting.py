"""Reading on real servers while read models are behind, or stopped at a stream."""

from __future__ import annotations

import asyncio

import pytest

from agentjournal import (
    NotCaughtUp,
    StreamParked,
    VersionNotFound,
)
from agentjournal.settings import Settings
from tests.servers import connected, projector, query, roles, sequencer
from tests.support import message

pytestmark = pytest.mark.stack


async def test_a_version_that_is_not_projected_yet_is_waited_for(fresh: Settings) -> None:
    async with roles(fresh, sequencer), connected(fresh) as log:
        writing, reading = log.session("s"), log.session("s")
        async with roles(fresh, projector):
            await writing.append(message("a"))
            assert (await reading.load()).version == 2
        await writing.append(message("b"))
        for session in (writing, reading):
            for is_fresh in (True, False):
                with pytest.raises(NotCaughtUp):
                    await session.load(at=3, fresh=is_fresh, timeout_s=0.3)
                # What is past does not change: nothing is waited for.
                assert (await session.load(at=2, fresh=is_fresh, timeout_s=0.3)).version == 2
        waiting = asyncio.create_task(reading.load(at=3, fresh=False, timeout_s=20))
        async with roles(fresh, projector):
            assert (await waiting).version == 3
            with pytest.raises(VersionNotFound):
                await writing.load(at=4)


async def test_a_read_model_that_is_not_read_is_not_waited_for(fresh: Settings) -> None:
    async with roles(fresh, sequencer, projector), connected(fresh) as log:
        session = log.session("s")
        receipt = await session.append(message("a"))
        await log.caught_up(receipt)
        # As one that a new release adds: it has read nothing yet, and nobody works on it.
        await query(
            fresh,
            "INSERT INTO agentjournal_internal.projection_checkpoints"
            " (projection, generation, partition)"
            " SELECT 'later', 1, p FROM generate_series(0, 7) AS p",
        )
        await query(
            fresh,
            "INSERT INTO agentjournal_internal.parked"
            " (projection, generation, stream, partition, version, error)"
            f" VALUES ('later', 1, '{session.stream}', {receipt.partition}, 1, '')",
        )
        for handle in (session, log.session("s")):
            assert (await handle.load()).version == 2
            assert len((await handle.window()).messages) == 1
            assert len([e async for e in handle.events()]) == 2
        with pytest.raises(NotCaughtUp):
            await log.caught_up(receipt, timeout_s=0.3)
        await query(
            fresh,
            "UPDATE agentjournal_internal.projection_checkpoints SET input_position = 100"
            " WHERE projection = 'later'",
        )
        with pytest.raises(StreamParked):
            await log.caught_up(receipt)


async def test_a_stream_whose_events_are_parked_is_not_read(fresh: Settings) -> None:
    async with roles(fresh, sequencer), connected(fresh) as log:
        session = log.session("s")
        async with roles(fresh, projector):
            receipt = await session.append(message("a"))
            await log.caught_up(receipt)
        await query(
            fresh,
            "INSERT INTO agentjournal_internal.parked"
            " (projection, generation, stream, partition, version, error)"
            f" VALUES ('events', 1, '{session.stream}', {receipt.partition}, 3, '')",
        )
        for looking in (session.load(), session.window(), log.session("s").load()):
            with pytest.raises(StreamParked):
                await looking
        with pytest.raises(StreamParked):
            _ = [e async for e in session.events()]


async def test_the_summary_says_how_far_behind_the_read_models_are(fresh: Settings) -> None:
    async with roles(fresh, sequencer), connected(fresh) as log:
        session, other = log.session("s"), log.session("s")
        async with roles(fresh, projector):
            await session.append([message("a"), message("b")])
            whole = (await session.load()).summary
            assert (whole.lag, whole.version) == (0, 3)
            assert whole.events == {"session.started": 1, "message.added": 2}
            assert (await other.load()).summary.lag == 0
        await session.append([message("c"), message("d")])
        behind = (await session.load(fresh=False)).summary
        assert (behind.lag, behind.version, behind.last_version) == (2, 3, 3)
        assert (await session.load(at=1)).summary.lag == 2
        assert (await other.load(fresh=False)).summary.lag is None
