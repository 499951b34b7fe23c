"""SIGTERM: what is under way is finished, partitions are given up, and it does not take long."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

import agentjournal as aj
from agentjournal.settings import Settings
from consumers.roles import ROLES
from local.stack import Stack
from tests.servers import connected, eventually, query
from tests.watched import Said, WatchedProcess, standing_still, watched

pytestmark = pytest.mark.stack

PROMISED_S = 10


@pytest.fixture
async def process(fresh: Settings, tmp_path: Path) -> AsyncGenerator[WatchedProcess]:
    """All roles in one process, and ready."""
    async with watched(fresh, tmp_path, list(ROLES)) as process:
        await process.is_ready()
        yield process


async def ends(process: WatchedProcess) -> int:
    """Return the exit status of a process that was told to stop just now."""
    try:
        async with asyncio.timeout(PROMISED_S):
            return await process.ended()
    except TimeoutError:
        raise AssertionError(f"it still runs: {process.log.read_text()}") from None


def stops(said: Said) -> set[str]:
    """Return what roles say of being stopped."""
    return {checks["stop"] for checks in said.json["roles"].values()}


async def test_every_role_finishes_gives_its_partitions_up_and_exits_with_0(
    process: WatchedProcess, fresh: Settings
) -> None:
    async with connected(fresh) as log:
        receipt = await log.session("s-1").append(aj.MessageAdded(role="user", content="hi"))
    process.lock.touch()
    process.signal(signal.SIGUSR1)
    await process.says("/healthz", lambda said: said.status == 503)  # the loop does nothing now
    process.signal(signal.SIGTERM)
    await process.says("/readyz", lambda said: stops(said) == {"stopping"})  # before all else
    process.lock.unlink()
    assert await ends(process) == 0
    assert {line["role"] for line in process.said("role_stopped")} == set(ROLES)
    assert not process.said("role_cut_off")
    assert await query(fresh, "SELECT member FROM agentjournal_internal.members") == []
    owners = "SELECT DISTINCT owner FROM agentjournal_internal.sequencer_checkpoints"
    assert await query(fresh, owners) == [{"owner": ""}]
    saved = "SELECT version FROM agentjournal_internal.heads"
    assert await query(fresh, saved) == [{"version": receipt.last_version}]


@pytest.mark.parametrize(("server", "batches", "heads"), [("kafka", 1, 0), ("postgres", 0, 1)])
async def test_a_stop_while_a_server_is_away_says_what_is_unsaved_and_is_in_time(
    process: WatchedProcess, stack: Stack, fresh: Settings, server: str, batches: int, heads: int
) -> None:
    async with connected(fresh) as log:
        process.lock.touch()
        await log.session("s-1").enqueue(aj.MessageAdded(role="user", content="hi"))
        await eventually(process.lock.with_suffix(".loaded").exists, timeout_s=20)
        with standing_still(stack, server):
            process.signal(signal.SIGTERM)
            process.lock.unlink()
            assert await ends(process) == 0
    [cut] = [line for line in process.said("role_cut_off") if line["role"] == "sequencer"]
    assert cut["partitions"] == list(range(8))
    assert (cut["batches"], cut["heads"]) == (batches, heads)
