"""The schemas of what stands around events say what the code writes and takes."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import orjson
import pytest
import yaml
from cloudevents.core.formats.json import JSONFormat
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agentjournal.alerts import SEVERITIES, Alert, encode_alert, raised
from agentjournal.ids import Milliseconds, Position, StreamId, Version
from agentjournal.requests import NewEvent, Request, RequestError, decode_request
from agentjournal.settings import Settings
from commands.asyncapi import asyncapi_document
from commands.record_schemas import alert_schema, envelope_schema, request_header_schema
from commands.schemas import ASYNCAPI, SCHEMAS
from consumers import kafka_topics
from streams.records import BatchPlace, build_records
from tests.unit.test_requests import new_events, optional_text, requests

ENVELOPE = Draft202012Validator(envelope_schema())
HEADER = Draft202012Validator(request_header_schema())
ALERT = Draft202012Validator(alert_schema())

STREAM = StreamId("session/acme/s-42")
FULL = NewEvent("e-1", "note.set", b'{"key":"a","value":1}', 1, "2026-01-31T12:00:00Z", 3, *"ctp")


def recorded(event: NewEvent, *, start: NewEvent | None = None, **fields: Any) -> dict[str, Any]:
    """Return the first record that a request of one event becomes."""
    request = Request("a-1", [event], "/acme/support", start=start, **fields)
    batch = [event] if start is None else [start, event]
    place = BatchPlace(STREAM, Position(5), Milliseconds(1_769_860_800_123), 1)
    records, _ = build_records(place, request, batch, Version(0), "0" * 64)
    record: dict[str, Any] = orjson.loads(records[0])
    return record


def test_the_envelope_has_every_attribute_that_a_record_can_have_and_no_other() -> None:
    least = recorded(NewEvent("e-1", "note.set", b"{}"))
    most = recorded(FULL, start=FULL, agent="support", worker="w", fence=7)
    schema = envelope_schema()
    assert list(least) == schema["required"]
    assert most.keys() == schema["properties"].keys()
    ENVELOPE.validate(least)
    ENVELOPE.validate(most)


@given(new_events, optional_text, optional_text, st.none() | st.integers(0, 2**53))
def test_whatever_a_request_may_hold_becomes_a_record_of_the_schema(
    event: NewEvent, agent: str | None, worker: str | None, fence: int | None
) -> None:
    event = event._replace(data=b"{}")
    ENVELOPE.validate(recorded(event, agent=agent, worker=worker, fence=fence))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("specversion", "1.1"),
        ("version", 7),
        ("version", "0"),
        ("version", "7\n"),
        ("index", -1),
        ("index", 2**31),
        ("inputposition", "01"),
        ("dataencoding", "cbor"),
        ("subject", "session/acme"),
        ("subject", "room/acme/1"),
        ("id", ""),
        ("id", "a\u0085"),
        ("recordedat", "2026-01-31T12:00:00Z"),
        ("hash", "0" * 63),
        ("prevhash", "A" * 64),
        ("data", []),
        ("start", False),
        ("not_a_name", "x"),
        ("size", ...),
        ("hash", ...),
    ],
)
def test_another_record_is_not_one_of_the_log(name: str, value: Any) -> None:
    record = recorded(FULL)
    if value is ...:
        del record[name]
    else:
        record[name] = value
    assert not ENVELOPE.is_valid(record)


def test_an_attribute_of_a_later_release_is_fine() -> None:
    ENVELOPE.validate({**recorded(FULL), "keyid": "k-1"})


@given(requests)
def test_the_header_of_any_request_is_taken(request: Request) -> None:
    HEADER.validate(orjson.loads(request.encoded().partition(b"\n")[0]))


WRONG: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, -1, 0, 1, 2**31, 2**53 + 1, "", "a", "\x00", "x" * 8_193, []]
)


@given(requests, st.integers(0, 11), st.integers(0, 8), WRONG, st.booleans())
def test_a_header_is_taken_when_the_sequencer_takes_it(
    request: Request, place: int, inner: int, wrong: Any, is_inner: bool
) -> None:
    line, _, data = request.encoded().partition(b"\n")
    header = orjson.loads(line)
    if is_inner:
        header[-1][0][inner] = wrong
    else:
        header[place] = wrong
    fault = fault_of(orjson.dumps(header) + b"\n" + data)
    # The bytes that follow are nothing that a schema of the line knows of.
    if "beyond the end" not in fault and "do not add up" not in fault:
        assert HEADER.is_valid(header) is (not fault), fault


def fault_of(request: bytes) -> str:
    try:
        decode_request(request)
    except RequestError as error:
        return error.reason
    return ""


@pytest.mark.parametrize("kind", SEVERITIES)
def test_an_alert_is_a_cloud_event_of_its_schema(kind: Any) -> None:
    alert = raised(
        kind,
        tenant="acme ü",
        subject=STREAM,
        text="the same tool, ten times",
        at="2026-01-31T12:00:00.5Z",
        source="meter",
        value=0.5,
    )
    record = encode_alert(alert)
    ALERT.validate(orjson.loads(record))
    event = JSONFormat().read(None, record)
    assert (event.get_id(), event.get_type()) == (alert.alert_id, f"alert.{kind}")
    fields = {field.name for field in dataclasses.fields(Alert)}
    assert alert_schema()["properties"]["data"]["properties"].keys() == fields - {"alert_id"}


def test_an_alert_without_its_text_is_none() -> None:
    alert = raised("error_rate", tenant="t", subject="s", text="x", at="now", source="meter")
    record = orjson.loads(encode_alert(alert))
    del record["data"]["text"]
    assert not ALERT.is_valid(record)


def test_the_document_is_asyncapi() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of how its models name their fields
        from asyncapi3.models.asyncapi import AsyncAPI3  # noqa: PLC0415
    document = yaml.safe_load((SCHEMAS / ASYNCAPI).read_text(encoding="utf-8"))
    AsyncAPI3.model_validate(document)
    document["channels"]["events"]["adress"] = "events"
    with pytest.raises(ValueError, match="adress"):
        AsyncAPI3.model_validate(document)


def references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [to for item in value.values() for to in references(item)]
    return [to for item in value for to in references(item)] if isinstance(value, list) else []


def test_whatever_the_document_refers_to_is_there() -> None:
    document = asyncapi_document()
    found = references(document)
    assert len(found) > 100
    for to in found:
        file, _, inside = to.partition("#/")
        at: Any = orjson.loads((SCHEMAS / file).read_bytes()) if file else document
        for name in inside.split("/") if inside else ():
            at = at[name]
        assert at, to


def test_the_document_has_the_topics_as_they_are_made() -> None:
    topics: Any = kafka_topics
    made = topics._wanted(Settings("", "", ""))
    found: dict[str, Any] = {}
    for channel in asyncapi_document()["channels"].values():
        name = channel["address"].format(prefix=channel["parameters"]["prefix"]["default"])
        kafka = channel["bindings"]["kafka"]
        known = {**kafka["topicConfiguration"], **channel.get("x-topic-configuration", {})}
        found[name] = (kafka["partitions"], {key: str(value) for key, value in known.items()})
    assert found == {name: made[name] for name in found}
    assert [name.partition(".")[2] for name in found] == ["appends", "events", "dead", "alerts"]


def test_every_operation_is_about_all_messages_of_its_topic() -> None:
    document = asyncapi_document()
    for operation in document["operations"].values():
        topic = operation["channel"]["$ref"].rpartition("/")[2]
        names = [each["$ref"].rpartition("/")[2] for each in operation["messages"]]
        assert names == list(document["channels"][topic]["messages"])
