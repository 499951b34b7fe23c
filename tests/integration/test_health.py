"""What a process says of itself, while servers stand still, while its loop is stuck, and after."""

from __future__ import annotations

import signal
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from agentjournal.settings import Settings
from consumers.health import DEFAULT_SERVERS, SERVERS
from consumers.roles import ROLES
from local.stack import Stack
from tests.servers import fresh_settings
from tests.watched import Said, WatchedProcess, standing_still, watched

pytestmark = [pytest.mark.stack, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def settings(stack: Stack) -> Settings:
    return await fresh_settings(stack.settings)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def process(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[WatchedProcess]:
    """All roles in one process."""
    async with watched(settings, tmp_path_factory.mktemp("roles"), list(ROLES)) as process:
        yield process


def servers_of(role: str) -> tuple[str, ...]:
    return SERVERS.get(role, DEFAULT_SERVERS)


def failing(said: Said) -> dict[str, set[str]]:
    """Return which checks fail, by role."""
    roles = said.json["roles"]
    return {r: {check for check, what in roles[r].items() if what != "ok"} for r in roles}


async def test_every_role_becomes_ready_and_says_what_was_checked(process: WatchedProcess) -> None:
    said = await process.is_ready()
    assert said.json["ready"] is True
    assert {role: set(checks) for role, checks in said.json["roles"].items()} == {
        role: {"loop", "work", "stop", *servers_of(role)} for role in ROLES
    }
    assert failing(said) == {role: set() for role in ROLES}
    assert await process.get("/healthz") == Said(200, {"healthy": True, "checks": {"loop": "ok"}})
    assert (await process.get("/elsewhere")).status == 404
    metrics = await process.metrics()
    assert {role: metrics["agentjournal_ready", role] for role in ROLES} == dict.fromkeys(ROLES, 1)
    assert metrics["agentjournal_partitions", "sequencer"] == 8


@pytest.mark.parametrize("server", ["kafka", "postgres", "redis"])
async def test_who_cannot_reach_a_server_is_healthy_and_not_ready_until_it_answers_again(
    process: WatchedProcess, stack: Stack, server: str
) -> None:
    await process.is_ready()
    needing = {role for role in ROLES if server in servers_of(role)}
    with standing_still(stack, server):
        said = await process.says(
            "/readyz",
            lambda said: {r for r, fails in failing(said).items() if server in fails} == needing,
        )
        assert said.status == 503
        assert said.json["ready"] is False
        assert said.json["roles"]["cache"][server].startswith("no answer for ")
        assert (await process.get("/healthz")).status == 200
        metrics = await process.metrics()
        assert {metrics["agentjournal_ready", role] for role in needing} == {0}
    await process.is_ready()


async def test_a_process_whose_loop_is_stuck_says_so_and_is_neither_healthy_nor_ready(
    process: WatchedProcess,
) -> None:
    await process.is_ready()
    process.lock.touch()
    process.signal(signal.SIGUSR1)
    said = await process.says("/healthz", lambda said: said.status == 503)
    assert said.json["healthy"] is False
    assert said.json["checks"]["loop"].startswith("stuck for ")
    assert all("loop" in fails for fails in failing(await process.get("/readyz")).values())
    assert (await process.metrics())["agentjournal_loop_delay_seconds",] > 1
    process.lock.unlink()
    await process.says("/healthz", lambda said: said.status == 200)
    await process.is_ready()


async def test_a_second_signal_ends_a_process_at_once(
    process: WatchedProcess, stack: Stack
) -> None:
    await process.is_ready()
    with standing_still(stack, "postgres"):
        process.signal(signal.SIGTERM)
        await process.says("/readyz", lambda said: "stop" in failing(said)["sequencer"])
        process.signal(signal.SIGTERM)
        assert await process.ended() == -signal.SIGTERM
