"""A session that was exported is imported into another tenant, and is the same there."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from typer.testing import CliRunner

import agentjournal as aj
from agentjournal.envelope import parse_record
from agentjournal.events import Entity
from agentjournal.settings import Settings
from commands import app
from importers.imported import RECORD
from tests.import_command import CommandLine, command_line
from tests.promoted import said
from tests.servers import addresses_of, connected, query

pytestmark = pytest.mark.stack

HOSTILE = ["\0 \ud800 \u2028 \x1b[2J", {"$int": 1}, float("nan"), 2**80, b"\xff", [[[]]], -0.0]


@pytest.fixture
def run(journal: Settings) -> Generator[CommandLine]:
    with command_line(journal) as run:
        yield run


def export(settings: Settings, *arguments: str | Path, exit_code: int = 0) -> bytes:
    """Return what the command prints."""
    given = ["export", *map(str, arguments)]
    environment = addresses_of(settings)
    if settings.artifacts is not None:
        environment["AGENTJOURNAL_ARTIFACTS"] = settings.artifacts
    done = CliRunner().invoke(app.command_line("export"), given, env=environment)
    assert done.exit_code == exit_code, (done.output, done.exception)
    return done.stdout_bytes


async def write(settings: Settings) -> list[aj.Recorded]:
    """Write a session with all that is hard to carry; return its events."""
    async with aj.connect(**_addresses(settings)) as log:
        session = log.session("s/1 ü", user="u-1", agent="support", entities=[_project()])
        await session.append([said("I'm allergic to nuts."), aj.NoteSet(key="k", value=HOSTILE)])
        async with session.resume(worker="w-1") as run:
            await run.append(aj.MessageAdded(role="assistant", content="x" * 200_000))
        await session.append([aj.CustomEvent("custom.x", {"deep": HOSTILE})])
        await session.promote()
        return [each async for each in session.events()]


def _project() -> Entity:
    return Entity(kind="project", id="p-1")


def _addresses(settings: Settings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in ("kafka", "postgres", "redis", "tenant")}


def test_a_session_is_carried_into_another_tenant_and_nothing_of_it_is_lost(
    run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(run.settings, artifacts=str(tmp_path / "artifacts"))
    for name, value in addresses_of(settings).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AGENTJOURNAL_ARTIFACTS", str(tmp_path / "artifacts"))
    events = asyncio.run(write(settings))
    file = tmp_path / "s.jsonl"
    assert export(settings, "s/1 ü", "--to", file) == b""
    lines = file.read_bytes().splitlines()
    assert export(settings, "s/1 ü").splitlines() == lines
    records = [parse_record(each) for each in lines if not each.startswith(b'{"artifact"')]
    assert [(each.id, each.hash) for each in records] == [(each.id, each.hash) for each in events]
    assert len(lines) == len(records) + 1  # what left the long message
    assert _from_kafka(settings, records) == []

    monkeypatch.setenv("AGENTJOURNAL_ARTIFACTS", str(tmp_path / "elsewhere"))
    target = f"tenant-{uuid4().hex[:8]}"
    account = run(file, "--tenant", target)
    found = account["format"], account["added"], account["left_out"]
    assert found == ("agentjournal", len(events), [])
    assert run(file, "--tenant", target)["there"] == len(events)
    assert run(file)["added"] == 0  # where it came from it is there already
    moved = asyncio.run(_moved(settings, target))
    assert [(each.version, each.id) for each in moved] == [
        (each.version, each.id) for each in events
    ]
    assert {each.source for each in moved} == {f"/{target}/import"}
    same = [
        (new, old)
        for new, old in zip(moved, events, strict=True)
        if not old.type.startswith(("lease.", "promotion."))
    ]
    assert all(new.raw_data == old.raw_data for new, old in same)
    assert all((new.type, new.time) == (old.type, old.recorded_at) for new, old in same)
    assert {new.type for new in moved} - {new.type for new, _ in same} == {RECORD}
    facts = asyncio.run(_promoted(settings, target))
    assert facts == [("allergy", "nuts")]


def _from_kafka(settings: Settings, records: Sequence[aj.Recorded]) -> list[str]:
    """Return what the canonical log has otherwise."""
    given = ["verify", str(records[0].stream), "--json"]
    done = CliRunner().invoke(app.command_line("verify"), given, env=addresses_of(settings))
    return [] if done.exit_code == 0 else [done.output]


async def _moved(settings: Settings, tenant: str) -> list[aj.Recorded]:
    async with aj.connect(**_addresses(replace(settings, tenant=tenant))) as log:
        return [each async for each in log.session("s/1 ü").events()]


async def _promoted(settings: Settings, tenant: str) -> list[tuple[str, object]]:
    async with aj.connect(**_addresses(replace(settings, tenant=tenant))) as log:
        await log.session("s/1 ü").promote()
        return [(each.attribute, each.value) for each in await log.memory(user="u-1").facts()]


def test_what_cannot_be_exported_is_told_and_leaves_no_file(
    run: CommandLine, tmp_path: Path
) -> None:
    asyncio.run(_short(run.settings))
    file = tmp_path / "s.jsonl"
    export(run.settings, "nobody", "--to", file, exit_code=1)
    assert list(tmp_path.iterdir()) == []
    file.write_text("mine")
    export(run.settings, "short", "--to", file, exit_code=2)
    assert file.read_text() == "mine"
    export(run.settings, "short", "--to", tmp_path / "no" / "s.jsonl", exit_code=1)
    of = f"stream = 'session/{run.settings.tenant}/short' AND version = 2"
    for broken in (
        f"UPDATE agentjournal_internal.events_1 SET data = '\\x7b7d' WHERE {of}",
        f"DELETE FROM agentjournal_internal.events_1 WHERE {of}",
    ):
        asyncio.run(query(run.settings, broken))
        export(run.settings, "short", "--to", tmp_path / "t.jsonl", exit_code=1)
    assert [each.name for each in tmp_path.iterdir()] == ["s.jsonl"]


async def _short(settings: Settings) -> None:
    async with connected(settings, tenant=settings.tenant) as log:
        receipt = await log.session("short", user="u").append(said("hi"))
        await log.caught_up(receipt)


def test_a_damaged_file_gives_its_beginning_and_the_mended_one_the_rest(
    run: CommandLine, tmp_path: Path
) -> None:
    asyncio.run(_short(run.settings))
    whole = export(run.settings, "short")
    file, target = tmp_path / "s.jsonl", f"tenant-{uuid4().hex[:8]}"
    file.write_bytes(whole.replace(b'"hi"', b'"ho"'))
    account = run(file, "--tenant", target, exit_code=1)
    [left_out] = account["left_out"]
    assert (account["added"], left_out["place"]) == (1, "line 2")
    assert re.search("hash", left_out["reason"])
    file.write_bytes(whole)
    account = run(file, "--tenant", target)
    assert (account["added"], account["there"], account["left_out"]) == (1, 1, [])
