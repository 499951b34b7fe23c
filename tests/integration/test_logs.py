"""What roles log: one JSON line an event, and nothing of what sessions hold."""

from __future__ import annotations

import json
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentjournal import Log, MessageAdded, StreamParked, ToolCompleted, VersionConflict
from agentjournal.errors import AppendRejected
from agentjournal.requests import NewEvent
from agentjournal.settings import Settings
from tests import warm
from tests.servers import connected, environment_of, inside, query
from tests.support import request

pytestmark = pytest.mark.stack

SECRET = "hunter2"
POISON = (
    "ALTER TABLE agentjournal_internal.messages_1 ADD CONSTRAINT no_poison"
    f" CHECK (content NOT LIKE '%{SECRET} poison%')"
)
HOSTILE = [
    f"{SECRET}\x00\n\r\u2028\x1b[2J",
    f'{SECRET}"}}\n{{"event":"role_failed","level":"error"}}',
    f"{SECRET} %s %(name)s {{0}} ${{jndi}}",
    f"{SECRET} \ud800",
]


def said(text: str) -> MessageAdded:
    return MessageAdded(role="user", content=text)


async def write_hostile(log: Log) -> None:
    """Append what each role has to look at, refuse or park."""
    session = log.session("s", user="u-7")
    for text in HOSTILE:
        await session.append(said(text))
    await session.set_note(SECRET, {SECRET: HOSTILE})
    await session.append(
        ToolCompleted(call_id="c", attempt=1, output=SECRET, result=HOSTILE, duration_ms=1)
    )
    with pytest.raises(VersionConflict):
        await session.append(said(SECRET), expected_version=1)
    appends = inside(log).appender
    for data in (f'{{"{SECRET}": '.encode(), f'{{"parts": "{SECRET}"}}'.encode(), b"\xff"):
        odd = request(NewEvent("id", "message.added", data), reply_to=appends.reply_to)
        pending = await appends.submit(session.stream, odd, 20)
        with pytest.raises(AppendRejected):
            await appends.receipt(pending, 20)
    parked = await session.append(said(f"{SECRET} poison"))
    with pytest.raises(StreamParked):
        await log.caught_up(parked, timeout_s=20)


@contextmanager
def roles_that_log(settings: Settings, written: Path) -> Generator[None]:
    """Run every role of the log in a process of its own, until it has stopped in good order."""
    names, environment = ("sequencer", "projector", "cache"), environment_of(settings)
    with written.open("wb") as output:
        streams = 0, output.fileno(), output.fileno()
        running = warm.start("consumers", names, environment, streams)
    try:
        yield
    finally:
        running.send_signal(signal.SIGTERM)
    assert running.wait(20) == 0


async def test_no_line_of_any_role_holds_what_a_session_holds(
    fresh: Settings, tmp_path: Path
) -> None:
    await query(fresh, POISON)
    written = tmp_path / "log"
    with roles_that_log(fresh, written):
        async with connected(fresh) as log:
            await write_hostile(log)
    lines = written.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if SECRET in line] == []
    told = [json.loads(line) for line in lines]
    assert all(line.keys() >= {"event", "level", "timestamp", "role"} for line in told)
    assert {"role_started", "partition_taken", "partitions_taken", "batch_replayed"} <= {
        line["event"] for line in told
    }
    (parked,) = [line for line in told if line["event"] == "stream_parked"]
    assert (parked["role"], parked["kind"]) == ("projector", "CheckViolation")
