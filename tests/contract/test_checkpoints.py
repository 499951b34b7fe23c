"""Checkpoints: an agent's own state comes back exactly as it was saved."""

from __future__ import annotations

import pytest

from agentjournal import (
    CheckpointNotFound,
    CheckpointSaved,
    Log,
    Session,
    Task,
)
from tests.clients import Clients

HOSTILE = {"nul": "\0", "half": "\ud800", "n": 2**70, "bytes": b"\xff", "deep": [[{"a": None}]]}


def handles(log: Log) -> list[Session | Task]:
    return [log.session("s"), log.task("t")]


async def test_the_last_one_and_each_by_its_id(clients: Clients) -> None:
    async with clients.connected() as log:
        for handle in handles(log):
            with pytest.raises(CheckpointNotFound):
                await handle.restore_checkpoint()
            first = await handle.save_checkpoint(HOSTILE, "one", 2)
            await handle.save_checkpoint(None)
            await handle.save_checkpoint("other", checkpoint_id=first)
            assert await handle.restore_checkpoint() is None
            assert await handle.restore_checkpoint(first) == HOSTILE
            with pytest.raises(CheckpointNotFound):
                await handle.restore_checkpoint("never saved")
            saved = (await handle.current()).checkpoints
            assert (saved[first].label, saved[first].schema_version) == ("one", 2)
            assert saved[first].restored_version is not None


async def test_a_large_state_is_kept_as_an_artifact_and_comes_back(clients: Clients) -> None:
    async with clients.connected(artifacts=True) as log:
        session = log.session("s")
        large = {"text": "é\0" * 400_000, "n": list(range(20_000))}
        await session.save_checkpoint(large)
        digest = await session.save_artifact("state", b"raw \xff")
        by_hand = CheckpointSaved(checkpoint_id="c", schema_version=1, artifact=digest)
        await session.append(by_hand)
        assert await log.session("s").restore_checkpoint() == b"raw \xff"
        known = (await session.load()).checkpoints
        assert await log.session("s").restore_checkpoint(next(iter(known))) == large
