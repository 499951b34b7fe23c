"""`agentjournal verify`: what is wrong is found, and named by its place.

Tests that damage tables share a log, whose tables are put back; one that damages the log itself has
one of its own.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from aiokafka import AIOKafkaProducer

import agentjournal as aj
from agentjournal.ids import StreamId
from agentjournal.partitions import partition_of
from agentjournal.settings import Settings
from commands.kafka_topic import KafkaTopic, TopicRecord
from local.stack import Stack
from tests.e2e.console import Console
from tests.servers import connected, fresh_settings, projector, roles, sequencer

pytestmark = pytest.mark.stack

STREAM = StreamId("session/default/s-1")
OTHER = StreamId("session/default/s-2")
TABLES = ("events_1", "streams_1")  # which the log is compared with


@dataclass
class Written:
    """A log that is written, and that nobody works on any more."""

    console: Console

    @property
    def settings(self) -> Settings:
        return self.console.settings

    def sql(self, statement: Any) -> None:
        with psycopg.connect(self.settings.postgres, autocommit=True) as connection:
            assert connection.execute(statement).rowcount == 1

    def problems(self, *arguments: str) -> list[str]:
        """Return the lines of a verification that fails, without the summary."""
        done = self.console("verify", *arguments)
        assert (done.returncode, done.stderr) == (1, "")
        return done.stdout.splitlines()[:-3]


async def write(settings: Settings) -> None:
    """Three events in `s-1`, of two appends, and two in `s-2`."""
    async with roles(settings, sequencer, projector), connected(settings, tenant="default") as log:
        await log.session("s-1").append(message("one"))
        await log.session("s-2").append(message("two"))
        await log.caught_up(await log.session("s-1").append(message("three")))
        await log.session("s-2").load()


def message(text: str) -> aj.MessageAdded:
    return aj.MessageAdded(role="user", content=text)


@pytest.fixture
async def written(fresh: Settings) -> Written:
    await write(fresh)
    return Written(Console(fresh))


@pytest.fixture(scope="module")
def shared(stack: Stack) -> Written:
    settings = asyncio.run(fresh_settings(stack.settings))
    asyncio.run(write(settings))
    return Written(Console(settings))


@pytest.fixture
def mended(shared: Written) -> Iterator[Written]:
    """A log whose tables are as they were again when the test is over."""
    with psycopg.connect(shared.settings.postgres, autocommit=True) as connection:
        for table in TABLES:
            copy = f"CREATE TABLE {table}_kept AS TABLE agentjournal_internal.{table}"
            connection.execute(copy.encode())
        yield shared
        for table in TABLES:
            for statement in (
                f"DELETE FROM agentjournal_internal.{table}",
                f"INSERT INTO agentjournal_internal.{table} TABLE {table}_kept",
                f"DROP TABLE {table}_kept",
            ):
                connection.execute(statement.encode())


def place(version: int, position: int, stream: str = STREAM) -> str:
    partition = partition_of(stream.encode())
    return rf"{stream} version {version} \(partition {partition}, position {position}\): "


def test_a_log_that_nobody_touched_fits(mended: Written) -> None:
    assert mended.console.output("verify").splitlines() == [
        "log: 5 events of 2 streams, 8 partitions, 0 repeats",
        "agentjournal.events: 0 events behind",
        "everything fits",
    ]
    of_one = json.loads(mended.console.output("verify", "s-1", "--json"))
    assert (of_one["events"], of_one["streams"], of_one["differences"]) == (3, 1, 0)
    assert json.loads(mended.console.output("verify", STREAM, "--json")) == of_one


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (
            (
                "UPDATE agentjournal_internal.events_1 SET data = "
                "convert_to(replace(convert_from(data, 'UTF8'), 'one', 'two'), 'UTF8') "
                "WHERE stream = 'session/default/s-1' AND version = 2"
            ),
            place(2, 1) + "agentjournal.events has another raw_data",
        ),
        (
            (
                "UPDATE agentjournal_internal.events_1 SET type = 'note.set', agent = 'me', "
                "recorded_at = recorded_at + interval '1 us' "
                "WHERE stream = 'session/default/s-1' AND version = 3"
            ),
            place(3, 2) + "agentjournal.events has another type, agent, recorded_at",
        ),
        (
            (
                "DELETE FROM agentjournal_internal.events_1 "
                "WHERE stream = 'session/default/s-1' AND version = 2"
            ),
            place(2, 1) + "agentjournal.events has no such row",
        ),
        (
            (
                "UPDATE agentjournal_internal.streams_1 SET hash = sha256('') "
                "WHERE stream = 'session/default/s-1'"
            ),
            r"session/default/s-1 \(partition \d\): agentjournal.streams does not have .*",
        ),
    ],
)
def test_damage_to_the_table_is_named_by_stream_version_and_place(
    mended: Written, damage: str, problem: str
) -> None:
    mended.sql(damage)
    (found,) = mended.problems()
    assert re.fullmatch(problem, found)
    assert mended.problems("s-1") == [found]
    assert "everything fits" in mended.console.output("verify", "s-2")


INJECT = """
INSERT INTO agentjournal_internal.events_1
SELECT {stream}, {version}, partition, {position}, input_position, batch_index, batch_size, type,
    schema_version, event_id, append_id, source, agent, worker, time, recorded_at, tokens,
    correlation_id, causation_id, traceparent, hash, data
FROM agentjournal_internal.events_1 WHERE stream = 'session/default/s-1' AND version = 2
"""


@pytest.mark.parametrize(
    ("stream", "version", "position", "problem"),
    [
        ("stream", 9, 1, "version 9 .*this row, and the log has no such event"),
        ("stream", 9, 1_000_000, "1 rows that no projector wrote"),
        ("'session/default/ghost'", 1, 0, "ghost .*1 rows, and the log none of it"),
    ],
)
def test_rows_that_the_log_does_not_have_are_found(
    mended: Written, stream: str, version: int, position: int, problem: str
) -> None:
    mended.sql(INJECT.format(stream=stream, version=version, position=position))
    assert any(re.search(problem, found) for found in mended.problems())


def test_a_stream_without_any_rows_is_one_problem(mended: Written) -> None:
    with psycopg.connect(mended.settings.postgres) as connection:
        connection.execute("DELETE FROM agentjournal_internal.events_1")
        connection.execute("DELETE FROM agentjournal_internal.streams_1")
    found = mended.problems()
    assert [line.split()[0] for line in found] == [STREAM, OTHER]
    assert "none of its 3 rows" in found[0]


async def test_what_is_not_projected_yet_is_behind_and_no_difference(written: Written) -> None:
    async with (
        roles(written.settings, sequencer),
        connected(written.settings, tenant="default") as log,
    ):
        await log.session("s-1").append([message("four"), message("five")])
    found = json.loads(written.console.output("verify", "--json"))
    assert (found["events"], found["behind"], found["differences"]) == (7, 2, 0)


async def log_of(settings: Settings, stream: str) -> list[TopicRecord]:
    async with KafkaTopic(settings, settings.events) as topic:
        partition = partition_of(stream.encode())
        bounds = {partition: (await topic.bounds())[partition]}
        return [record async for record in topic.read(bounds) if record.key == stream.encode()]


async def write_records(settings: Settings, *records: TopicRecord) -> None:
    async with AIOKafkaProducer(bootstrap_servers=settings.kafka) as producer:
        for record in records:
            await producer.send_and_wait(
                settings.events, record.value, key=record.key, partition=record.partition
            )


async def test_repeats_in_the_log_are_counted_and_must_be_the_same_bytes(
    written: Written,
) -> None:
    records = await log_of(written.settings, STREAM)
    await write_records(written.settings, *records)
    found = json.loads(written.console.output("verify", "--json"))
    assert (found["events"], found["repeats"], found["behind"]) == (5, 3, 0)
    other = records[1]._replace(value=records[1].value.replace(b"one", b"two"))
    await write_records(written.settings, other)
    (line,) = written.problems()
    end = records[0].position + 6
    assert re.fullmatch(place(2, end) + "the hash is not that of the record's bytes", line)


async def test_problems_as_json_have_their_places(written: Written) -> None:
    (record, *_) = await log_of(written.settings, STREAM)
    await write_records(written.settings, record._replace(value=b"junk"))
    done = written.console("verify", "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    partition = partition_of(STREAM.encode())
    assert found["problems"] == [
        {
            "stream": STREAM,
            "version": 0,
            "partition": partition,
            "position": record.position + 3,
            "text": "not a record of ours",
        }
    ]
    assert found["differences"] == 1


def test_verify_of_an_unknown_stream_fails(mended: Written) -> None:
    assert mended.console.failure("verify", "s-9") == (
        "error: the log has no stream session/default/s-9\n"
    )
