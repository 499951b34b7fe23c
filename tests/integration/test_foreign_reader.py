"""Others read the log, and write to it: another Kafka client, JSON Schema, CloudEvents."""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
import pytest
from cloudevents.core.formats.json import JSONFormat
from confluent_kafka import Consumer, Message, Producer, TopicPartition
from jsonschema import Draft202012Validator

from agentjournal.events import BUILT_IN, Event, NoteSet, decode_event
from agentjournal.ids import StreamId, stream_id
from agentjournal.partitions import PARTITIONS, partition_of
from agentjournal.settings import Settings
from commands.asyncapi import event_path
from commands.record_schemas import dead_headers_schema
from commands.schemas import SCHEMAS
from tests.servers import connected

pytestmark = pytest.mark.stack

EXAMPLES = Path(__file__).parents[1] / "unit" / "examples" / "events.jsonl"
HOSTILE = ["\0", "half \ud800", 2**63, 2**70, float("nan"), b"\xff", {"$int": "5"}, 0.1]


def schema(path: str) -> Draft202012Validator:
    return Draft202012Validator(orjson.loads((SCHEMAS / path).read_bytes()))


def readers_page() -> dict[str, Any]:
    """Return what the program on the page of schemas defines."""
    page = (SCHEMAS / "README.md").read_text(encoding="utf-8")
    [program] = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    defined: dict[str, Any] = {}
    exec(compile(program, "README.md", "exec"), defined)
    return defined


@contextmanager
def consumer(settings: Settings, *places: TopicPartition) -> Generator[Consumer]:
    options = {
        "bootstrap.servers": settings.kafka,
        "group.id": f"foreign-{uuid4().hex}",
        "enable.auto.commit": False,
    }
    reading = Consumer(options)
    try:
        reading.assign(list(places))
        yield reading
    finally:
        reading.close()


def messages(reading: Consumer, *, within_s: float = 20) -> Iterator[Message]:
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        message = reading.poll(0.2)
        if message is not None:
            assert message.error() is None
            yield message
    raise TimeoutError("what is waited for did not come")


def records_of(settings: Settings, stream: StreamId, count: int) -> list[bytes]:
    """Return the records of a stream, as the bytes that another client reads."""
    partition = partition_of(stream.encode())
    found: list[bytes] = []
    with consumer(settings, TopicPartition(settings.events, partition, 0)) as reading:
        for message in messages(reading):
            if message.key() == stream.encode():
                found.append(value_of(message))
                if len(found) == count:
                    return found
    raise AssertionError


def value_of(message: Message) -> bytes:
    value: Any = message.value()
    assert isinstance(value, bytes)
    return value


def examples() -> list[Event]:
    """Return an event of every type that may be on a session."""
    found = map(orjson.loads, EXAMPLES.read_bytes().splitlines())
    return [
        decode_event(each["type"], 1, orjson.dumps(each["data"]))
        for each in found
        if not each["type"].startswith(("session.", "lease.", "fact."))
    ]


def validated(record: bytes) -> dict[str, Any]:
    """Return a record of the log that is what the schemas and CloudEvents say."""
    event: dict[str, Any] = orjson.loads(record)
    schema("envelope.json").validate(event)
    if event["type"] in BUILT_IN:
        schema(event_path(BUILT_IN[event["type"]])).validate(event["data"])
    read = JSONFormat().read(None, record)
    assert (read.get_id(), read.get_type(), read.get_subject()) == (
        *(event["id"], event["type"], event["subject"]),
    )
    for name, value in event.items():
        assert re.fullmatch("[a-z0-9]{1,20}", name)
        if type(value) is int:
            assert -(2**31) <= value < 2**31
    return event


async def test_every_type_is_read_by_another_client_and_is_what_the_schemas_say(
    journal: Settings,
) -> None:
    events = examples()
    async with connected(journal) as log:
        session = log.session("s", user="u", agent="support")
        await session.append(events)
        receipt = await session.append([NoteSet(key="k", value=value) for value in HOSTILE])
    records = records_of(journal, receipt.stream, receipt.last_version)

    found = [validated(record) for record in records]
    written = ["session.started", *(each.type for each in events), *["note.set"] * len(HOSTILE)]
    assert [each["type"] for each in found] == written
    assert [each["version"] for each in found] == list(map(str, range(1, len(written) + 1)))
    assert {each.type for each in events} | {"session.started"} >= {
        name for name in BUILT_IN if not name.startswith(("session.", "lease.", "fact."))
    }
    assert [each["data"]["value"] for each in found[-len(HOSTILE) :]] == [
        "\0",
        {"$text": ["half ", 0xD800]},
        {"$int": "9223372036854775808"},
        {"$int": "1180591620717411303424"},
        {"$float": "nan"},
        {"$bytes": "/w=="},
        {"$dict": [["$int", "5"]]},
        0.1,
    ]


async def test_the_reader_on_the_page_gives_each_event_once_and_stops_at_what_is_wrong(
    journal: Settings,
) -> None:
    async with connected(journal) as log:
        session = log.session("s", user="u", agent="support")
        await session.append([NoteSet(key="n", value=0), NoteSet(key="n", value=1)])
        receipt = await session.append(NoteSet(key="n", value=2))
    records = records_of(journal, receipt.stream, 4)

    reader = readers_page()["LogReader"]()
    for at, record in enumerate(records):
        assert reader.take(0, record)["version"] == str(at + 1)
        for again in records[: at + 1]:
            assert reader.take(0, again) is None

    gap = readers_page()["LogReader"]()
    gap.take(0, records[0])
    with pytest.raises(ValueError, match="3 does not follow 1"):
        gap.take(0, records[2])
    with pytest.raises(ValueError, match="version 2 was changed"):
        gap.take(0, records[1].replace(b'"value":0', b'"value":9'))
    assert gap.take(0, records[1])["data"] == {"key": "n", "value": 0}


async def test_another_client_appends_and_is_told_of_what_is_refused(journal: Settings) -> None:
    tenant = f"t-{uuid4().hex[:8]}"
    stream, data = stream_id("session", tenant, "s"), b'{"cents":5}'
    event = ["e-1", "custom.paid", 1, len(data), None, None, None, None, None]
    header = [1, "a-1", 1, 0, None, None, "/acme/billing", None, None, "json", None, [event]]
    schema("request-header.json").validate(header)
    good, bad = orjson.dumps(header) + b"\n" + data, orjson.dumps([*header, 1]) + b"\n" + data
    assert not schema("request-header.json").is_valid([*header, 1])

    producer = Producer(
        {"bootstrap.servers": journal.kafka, "acks": "all", "partitioner": "murmur2_random"}
    )
    for value in (good, bad, good):
        producer.produce(journal.appends, value, key=stream.encode())
    assert producer.flush(20) == 0

    [record] = records_of(journal, stream, 1)
    found = validated(record)
    assert (found["data"], found["appendid"]) == ({"cents": 5}, "a-1")
    letter = letter_of(journal, stream)
    assert value_of(letter) == bad
    given: Any = letter.headers()
    headers = {name: value.decode() for name, value in given}
    Draft202012Validator(dead_headers_schema()).validate(headers)
    assert headers["reason"] == "rejected"
    assert (headers["path"], headers["text"]) == ("header", "does not have 12 values")
    assert int(headers["partition"]) == partition_of(stream.encode(), PARTITIONS)


def letter_of(settings: Settings, stream: StreamId) -> Message:
    with consumer(settings, TopicPartition(settings.dead, 0, 0)) as reading:
        for message in messages(reading):
            if message.key() == stream.encode():
                return message
    raise AssertionError
