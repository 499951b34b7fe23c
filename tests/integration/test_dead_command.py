"""`agentjournal dead` on real servers: lost races are listed where they are asked for, and what was
refused is appended again.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest
from typer.testing import CliRunner, Result

from agentjournal import Log, SessionMismatch, VersionConflict
from agentjournal.ids import Partition
from agentjournal.kafka_producers import abandon_producer, new_producer
from agentjournal.partitions import PARTITIONS, partition_of
from agentjournal.requests import Request
from agentjournal.settings import Settings
from commands.app import command_line
from commands.errors import CommandFailed
from tests.support import message, request, said
from tests.waiting import awaited

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


def test_lost_races_are_listed_where_they_are_asked_for(named: Settings) -> None:
    stream = asyncio.run(refused(named))

    def listed(*options: str) -> list[str]:
        asked = ["dead", "--json", "--limit", "1000", *options]
        found = CliRunner().invoke(command_line("dead"), asked)
        assert found.exit_code == 0, found.output
        return [each["reason"] for each in json.loads(found.output) if each["stream"] == stream]

    assert listed() == ["mismatch"]
    assert listed("--conflicts") == ["mismatch", "conflict"]


async def written(settings: Settings, stream: str, asked: Request, partition: Partition) -> int:
    """Write a request into a partition as some other client would; return its position."""
    producer = await new_producer(settings, max_batch_size=100_000)
    try:
        sent = await producer.send_and_wait(
            settings.appends, asked.encoded(), stream.encode(), partition
        )
    finally:
        await abandon_producer(producer)
    return int(sent.offset)


async def kept(settings: Settings, stream: str) -> list[tuple[int, str, bytes]]:
    async with Log(settings) as log:
        session = log.session(stream.rpartition("/")[2])
        return [(e.version, e.type, e.raw_data) async for e in session.events()]


def test_refused_requests_are_appended_again_as_the_bytes_they_were(named: Settings) -> None:

    def run(*options: str, answer: str | None = None) -> Result:
        return CliRunner().invoke(command_line("dead"), ["dead", *options], input=answer)

    def redriven(*options: str) -> list[tuple[str, str, int | None]]:
        found = run("--redrive", "--json", "--yes", *options)
        rows = json.loads(found.stdout)
        assert found.exit_code == any(each["outcome"] == "refused" for each in rows)
        return [(each["reason"], each["outcome"], each["last_version"]) for each in rows]

    stream = asyncio.run(refused(named))  # has a start and one message by now
    right = partition_of(stream.encode())
    early, astray = request(said("early"), expected_version=3), request(said("astray"))
    place = f"{right}:{asyncio.run(written(named, stream, early, right))}"
    wrong = Partition((right + 1) % PARTITIONS)
    lost = f"{wrong}:{asyncio.run(written(named, stream, astray, wrong))}"

    def listed() -> list[dict[str, Any]]:
        letters = json.loads(run("--json", "--conflicts", "--limit", "1000").stdout)
        return [each for each in letters if each["stream"] == stream]

    awaited(lambda: len(listed()) == 4)

    # Nothing is sent before the answer; what lost a race must be named by its place.
    declined = run("--redrive", stream, answer="n\n")
    assert declined.exit_code == 1
    assert f"{lost} {stream}: rejected" in declined.stderr
    assert "2 that lost a race or whose stream is deleted are left out" in declined.stderr
    assert place not in declined.stderr
    assert len(asyncio.run(kept(named, stream))) == 2

    assert sorted(redriven(stream)) == [("mismatch", "refused", None), ("rejected", "accepted", 3)]
    assert redriven(lost) == [("rejected", "there already", None)]
    assert redriven(place) == [("conflict", "accepted", 4)]
    assert asyncio.run(kept(named, stream))[2:] == [
        (3, "message.added", astray.events[0].data),
        (4, "message.added", early.events[0].data),
    ]

    # One whose version does not hold any more is refused again, and the reason is told.
    [outdated] = [
        f"{each['partition']}:{each['position']}"
        for each in listed()
        if each["reason"] == "conflict" and f"{each['partition']}:{each['position']}" != place
    ]
    again = run("--redrive", "--yes", outdated)
    assert again.exit_code == 1
    assert "conflict: 1 was expected, it is 4" in again.stdout
    assert "0 of 1 were accepted" in again.stderr


@pytest.mark.usefixtures("named")
def test_what_was_never_refused_cannot_be_sent_again() -> None:
    asked = ["dead", "--redrive", "7:999999999", f"session/{uuid4().hex}/s"]
    found = CliRunner().invoke(command_line("dead"), asked)
    assert isinstance(found.exception, CommandFailed)
    assert f"{asked[2]}, {asked[3]}" in str(found.exception)
