"""`agentjournal top` as a person sees it: once as text, or in place on a terminal."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
from dataclasses import dataclass, field, replace
from typing import Self
from uuid import uuid4

import pytest

import agentjournal as aj
from agentjournal.alerts import raised
from agentjournal.kafka_alerts import AlertWriter
from agentjournal.rates import Rates, TenantRates, ToolRates
from agentjournal.redis_rates import RedisRates
from agentjournal.settings import Settings
from consumers.kafka_topics import make_topics
from tests.e2e.console import COMMAND, Console
from tests.servers import connected

pytestmark = pytest.mark.stack

ALTERNATE, BACK = "\x1b[?1049h", "\x1b[?1049l"
CURSOR = "\x1b[?25h"
HOME = "\x1b[H"


@pytest.fixture(scope="module")
def console(journal: Settings) -> Console:
    """The tables that all tests share; alerts and rates of this file's own."""
    settings = replace(journal, topic_prefix=f"top-{uuid4().hex[:8]}.")
    asyncio.run(seed(journal, settings))
    return Console(settings)


async def seed(journal: Settings, settings: Settings) -> None:
    await make_topics(settings)
    async with connected(journal) as log:
        receipt = await log.session("s", user="u").append(
            aj.MessageAdded(role="user", content="hello")
        )
        await log.caught_up(receipt)


def write_alert(console: Console, subject: str) -> None:
    alert = raised(
        "runaway_loop",
        tenant="acme",
        subject=subject,
        text="pay was called 10 times in a row",
        at="2026-01-31T12:00:00Z",
        source="meter",
    )

    async def write() -> None:
        async with AlertWriter(console.settings) as writer:
            await writer.write([alert])

    asyncio.run(write())


def publish_rates(console: Console) -> None:
    async def publish() -> None:
        rates = RedisRates(console.settings)
        tenant = TenantRates("acme", 600, 100, 0, sessions_started=1, sessions_active=2)
        tool = ToolRates("acme", "\x1b[2Jpay", 5, 0, calls=4, completed=3, failed=1)
        await rates.publish("m", Rates("2026-01-31T12:00:00Z", 60, 300, (tenant,), (tool,)))
        await rates.close()

    asyncio.run(publish())


def test_it_is_printed_once_where_output_is_no_terminal(console: Console) -> None:
    write_alert(console, "session/acme/\x1b[31mred")
    text = console.output("top")
    lines = text.splitlines()
    assert re.fullmatch(
        r"sessions   [\d,]+ open, [\d,]+ ended, .* [\d,]+ active in the last 5 minutes", lines[1]
    )
    assert re.fullmatch(
        r"work       [\d,]+ sessions? runnable, [\d,]+ leases? live, .* unknown", lines[2]
    )
    assert re.fullmatch(r"refused    [\d,]+ dead letters?, .* streams? parked", lines[3])
    assert lines[4] == "rates      no meter is at work: `agentjournal run meter`"
    assert (
        "2026-01-31 12:00:00  critical  runaway_loop      acme  "
        r"session/acme/\x1b[31mred  pay was called 10 times in a row"
    ) in lines
    assert re.search(r"^conversation +[\d,]+ +[\d,.]+ +\d+$", text, re.MULTILINE)
    assert "\x1b" not in text


def test_programs_get_one_object_and_what_is_away_hides_nothing_of_the_rest(
    console: Console,
) -> None:
    publish_rates(console)
    done = console("top", "--json", AGENTJOURNAL_KAFKA="127.0.0.1:9")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["trouble"]["alerts"].startswith("Kafka cannot be reached: ")
    assert (list(found["trouble"]), found["alerts"]) == (["alerts"], None)
    assert found["read_models"]["sessions"]["by_status"]["open"] >= 1
    assert found["read_models"]["runnable"] >= 1
    assert [tool["error_rate"] for tool in found["rates"]["tools"]] == [0.25]


@dataclass
class Terminal:
    """A terminal with a command on it; what is read can be waited for."""

    command: list[str]
    environment: dict[str, str]
    shown: str = ""
    _ours: int = field(init=False)
    _theirs: int = field(init=False)
    process: subprocess.Popen[bytes] = field(init=False)

    def __enter__(self) -> Self:
        self._ours, self._theirs = pty.openpty()
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.modes = termios.tcgetattr(self._theirs)
        self.process = subprocess.Popen(
            self.command, env=self.environment, stdin=self._theirs, stdout=self._theirs
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)
        os.close(self._theirs)

    def until(self, text: str) -> None:
        """Read on until this has come, after what was read before."""
        read = ""
        while text not in read:
            read += os.read(self._ours, 65_536).decode(errors="replace")
        self.shown += read

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def is_as_it_was(self) -> bool:
        return termios.tcgetattr(self._theirs) == self.modes


def on_terminal(console: Console) -> Terminal:
    return Terminal([COMMAND, "top", "--interval", "0.2"], console.environment)


def test_on_a_terminal_it_is_drawn_in_place_until_q(console: Console) -> None:
    publish_rates(console)
    with on_terminal(console) as terminal:
        terminal.until(r"\x1b[2Jpay")  # a tool's name, harmless
        write_alert(console, "session/acme/later")
        terminal.until("session/acme/later")
        terminal.press(b"xq")
        terminal.until(BACK)
        assert terminal.process.wait(20) == 0
        assert terminal.is_as_it_was()
    shown = terminal.shown
    assert shown.startswith(ALTERNATE)
    assert shown.count(ALTERNATE) == shown.count(BACK) == 1
    screens = shown.split(HOME)[2:]
    assert len(screens) >= 3
    assert all("agentjournal  2" in screen for screen in screens)
    # Nothing scrolls: a screen has no more lines than the terminal.
    assert max(screen.count("\n") for screen in screens) <= 29


def test_ctrl_c_ends_it_cleanly(console: Console) -> None:
    with on_terminal(console) as terminal:
        terminal.until("conversation")
        terminal.process.send_signal(signal.SIGINT)
        terminal.until(BACK)
        assert terminal.process.wait(20) == 0
        assert terminal.is_as_it_was()
    assert CURSOR in terminal.shown
    assert "Traceback" not in terminal.shown
