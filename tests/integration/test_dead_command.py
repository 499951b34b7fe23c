"""`agentjournal dead` on real servers: lost races are listed where they are asked for."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from agentjournal import Log, SessionMismatch, VersionConflict
from agentjournal.settings import Settings
from commands.app import command_line
from tests.support import message

pytestmark = pytest.mark.stack


async def refused(settings: Settings) -> str:
    """Lose a race, then be refused; return the stream."""
    async with Log(settings) as log:
        session = log.session("s", user="u")
        await session.append(message("a"))
        with pytest.raises(VersionConflict):
            await session.append(message("b"), expected_version=1)
        with pytest.raises(SessionMismatch):
            await log.session("s", user="v").append(message("c"))
        return session.stream


def test_lost_races_are_listed_where_they_are_asked_for(
    journal: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(journal, tenant=f"tenant-{uuid4().hex[:8]}")
    for name in ("kafka", "postgres", "redis", "tenant", "topic_prefix"):
        monkeypatch.setenv(f"AGENTJOURNAL_{name.upper()}", getattr(settings, name))
    stream = asyncio.run(refused(settings))

    def listed(*options: str) -> list[str]:
        asked = ["dead", "--json", "--limit", "1000", *options]
        found = CliRunner().invoke(command_line("dead"), asked)
        assert found.exit_code == 0, found.output
        return [each["reason"] for each in json.loads(found.output) if each["stream"] == stream]

    assert listed() == ["mismatch"]
    assert listed("--conflicts") == ["mismatch", "conflict"]
