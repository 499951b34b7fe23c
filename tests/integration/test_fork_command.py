"""`agentjournal fork` on real servers."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from agentjournal import Log
from agentjournal.settings import Settings
from commands.app import command_line
from tests.support import message

pytestmark = pytest.mark.stack


async def written(settings: Settings) -> None:
    async with Log(settings) as log:
        await log.session("s", user="u").append([message("a"), message("b")])


async def read(settings: Settings, session_id: str) -> list[str]:
    async with Log(settings) as log:
        return [m.text for m in (await log.session(session_id).load()).messages]


def test_a_fork_is_begun_by_its_parents_id(named: Settings) -> None:
    asyncio.run(written(named))
    chosen = CliRunner().invoke(command_line("fork"), ["fork", "s", "--at", "2", "--as", "f"])
    assert (chosen.exit_code, chosen.output) == (0, "f\n")
    assert asyncio.run(read(named, "f")) == ["a"]
    unnamed = CliRunner().invoke(command_line("fork"), ["fork", "s"])
    assert asyncio.run(read(named, unnamed.output.strip())) == ["a", "b"]
    by_stream = f"session/{named.tenant}/s"
    now = datetime.now(UTC).isoformat()
    as_it_is = CliRunner().invoke(command_line("fork"), ["fork", by_stream, "--at", now])
    assert asyncio.run(read(named, as_it_is.output.strip())) == ["a", "b"]
    for wrong, status in (["s", "--at", "soon"], 2), (["no-such"], 1), (["s", "--at", "0"], 1):
        refused = CliRunner().invoke(command_line("fork"), ["fork", *wrong])
        assert refused.exit_code == status, refused.output
    taken = CliRunner().invoke(command_line("fork"), ["fork", "s", "--as", "f"])
    assert taken.exit_code == 1
