"""`agentjournal alerts` on a real broker: narrowed, each once, and saying when there is none."""

from __future__ import annotations

import asyncio
import json
import signal
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from typer.testing import CliRunner, Result

from agentjournal.alerts import Alert, raised
from agentjournal.kafka_alerts import AlertWriter
from agentjournal.kafka_producers import abandon_producer, new_producer
from agentjournal.settings import Settings
from commands.app import command_line
from consumers.kafka_topics import make_topics
from local.stack import Stack
from tests.e2e.console import Console
from tests.servers import addresses_of

pytestmark = pytest.mark.stack

NOW = datetime.now(UTC)
RATE = raised(
    "error_rate",
    tenant="acme",
    subject="pay",
    text="12 of the last 20 calls failed",
    at=(NOW - timedelta(hours=3)).isoformat(),
    source="meter",
)
STUCK = raised(
    "stuck_call",
    tenant="other",
    subject="session/other/s",
    text="call c is open",
    at=(NOW - timedelta(minutes=5)).isoformat(),
    source="meter",
)


@pytest.fixture
def empty(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings with topics of the test's own, which commands find in the environment."""
    settings = replace(stack.settings, topic_prefix=f"alerts-{uuid4().hex[:8]}.")
    asyncio.run(make_topics(settings))
    for name, value in addresses_of(settings).items():
        monkeypatch.setenv(name, value)
    return settings


async def write(settings: Settings, *alerts: Alert) -> None:
    async with AlertWriter(settings) as writer:
        await writer.write(alerts)


def run(*options: str) -> Result:
    return CliRunner().invoke(command_line("alerts"), ["alerts", *options])


def subjects(*options: str) -> list[str]:
    found = run("--json", *options)
    assert found.exit_code == 0, found.output
    return [json.loads(line)["subject"] for line in found.stdout.splitlines()]


def test_where_there_is_none_it_says_so(empty: Settings) -> None:
    found = run()
    assert (found.exit_code, found.stdout, found.stderr) == (0, "", "there are no alerts\n")
    asyncio.run(write(empty, RATE))
    found = run("--tenant", "other")
    assert (found.exit_code, found.stdout, found.stderr) == (0, "", "there are no such alerts\n")


def test_alerts_are_narrowed_by_kind_tenant_age_and_number(empty: Settings) -> None:
    asyncio.run(write(empty, RATE, STUCK, RATE))
    assert subjects() == ["pay", "session/other/s"]
    assert subjects("--kind", "error_rate, runaway_loop") == ["pay"]
    assert subjects("--tenant", "other") == ["session/other/s"]
    assert subjects("--since", "2h") == ["session/other/s"]
    assert subjects("--since", (NOW - timedelta(hours=4)).isoformat()) == ["pay", "session/other/s"]
    assert subjects("--limit", "1") == ["session/other/s"]
    line = run("--limit", "1").stdout
    assert line.endswith("  warning   stuck_call        other  session/other/s  call c is open\n")


def test_what_is_no_alert_is_said_and_hides_nothing(empty: Settings) -> None:
    async def broken() -> None:
        producer = await new_producer(empty, max_batch_size=10_000)
        await producer.send_and_wait(empty.alerts, b"[]")
        await abandon_producer(producer)
        await write(empty, RATE)

    asyncio.run(broken())
    found = run("--json")
    assert json.loads(found.stdout)["subject"] == "pay"
    assert found.stderr.startswith("partition 0, position 0 of the topic holds no alert: ")


def test_alerts_are_followed_until_ctrl_c(empty: Settings) -> None:
    asyncio.run(write(empty, RATE))
    with Console(empty).start("alerts", "--follow", "--json") as following:
        assert following.stdout is not None
        assert following.stderr is not None
        assert json.loads(following.stdout.readline())["subject"] == "pay"
        asyncio.run(write(empty, RATE, STUCK))
        assert json.loads(following.stdout.readline())["subject"] == "session/other/s"
        following.send_signal(signal.SIGINT)
        assert following.wait(20) == 0
        assert (following.stdout.read(), following.stderr.read()) == ("", "")
