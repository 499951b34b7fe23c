"""`agentjournal subscriptions` on servers: who reads the log, and what a service stopped at."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from typer.testing import CliRunner

from agentjournal import Log
from agentjournal.settings import Settings
from commands.app import command_line
from tests.serving import Handler, eventually_parked, run, service_of
from tests.subscriber import group, left, taken
from tests.support import message

pytestmark = pytest.mark.stack


def asked(*arguments: str) -> Any:
    """Return what the command prints as JSON."""
    found = CliRunner().invoke(
        command_line("subscriptions"), ["subscriptions", "--json", *arguments]
    )
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def of(service: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = asked()
    (row,) = [each for each in rows if each["service"] == service]
    return row


async def stopped_at_one(settings: Settings, name: str, handler: Handler) -> str:
    """Let a service stop at a session; return its stream."""
    async with Log(settings) as log:
        receipt = await log.session("s").append([message("a"), message("bad"), message("after")])
        service = service_of(log, name)
        async with run(service, handler):
            await eventually_parked(service, 1)
        return receipt.stream


def test_what_a_service_stopped_at_is_listed_and_handled_again(named: Settings) -> None:
    name, handler = group(), Handler()
    handler.broken = {"bad"}
    stream = asyncio.run(stopped_at_one(named, name, handler))
    row = of(name)
    assert (row["processes"], row["parked"]) == (0, 1)
    (parked,) = asked(name)
    assert (parked["stream"], parked["version"], parked["error"]) == (stream, 3, "Broken: not bad")
    assert [each["stream"] for each in asked(name, stream, "--redrive")] == [stream]
    handler.broken = set()

    async def goes_on() -> None:
        async with Log(named) as log, run(service_of(log, name), handler):
            assert await handler.has(3) == ["a", "bad", "after"]
            await eventually_parked(service_of(log, name), 0)

    asyncio.run(goes_on())
    assert of(name)["parked"] == 0
    assert asked(name) == []


def test_who_reads_and_how_far_behind_it_is(named: Settings) -> None:
    name = group()

    async def read() -> dict[str, Any]:
        async with Log(named) as log:
            await log.session("s").append([message("a"), message("b")])
            events = log.subscribe(group=name)
            try:
                await taken(events, 1)
                return await asyncio.to_thread(of, name)
            finally:
                await left(events)

    row = asyncio.run(read())
    assert (row["processes"], row["parked"]) == (1, 0)
    assert row["behind"] > 0
    assert of(name)["processes"] == 0


@pytest.mark.parametrize("arguments", [["--redrive"], ["billing", "session/default/s"]])
def test_wrong_use_is_told(arguments: list[str]) -> None:
    found = CliRunner().invoke(command_line("subscriptions"), ["subscriptions", *arguments])
    assert found.exit_code == 2


@pytest.mark.usefixtures("named")
def test_only_what_is_parked_can_be_named() -> None:
    found = CliRunner().invoke(
        command_line("subscriptions"), ["subscriptions", group(), "session/x/y", "--redrive"]
    )
    assert found.exit_code == 1
    assert "is not stopped at: session/x/y" in str(found.exception)


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize("more", [[], ["--redrive"]])
def test_a_name_under_which_nothing_is_parked_is_told(more: list[str]) -> None:
    found = CliRunner().invoke(command_line("subscriptions"), ["subscriptions", "bilings", *more])
    assert found.exit_code == 0
    assert found.stderr.startswith("bilings has stopped at nothing;")
    assert "asked" not in found.stderr
