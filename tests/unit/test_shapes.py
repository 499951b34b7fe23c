"""The checker of rules 1: what it takes, what it refuses, and that nobody else decides."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentjournal.codec import FormError, parse_strict
from agentjournal.errors import AppendRejected
from agentjournal.events import BUILT_IN, decode_event, validated
from streams.shapes import compile_shapes, read_table
from streams.shapes_of_models import table_of_models
from tests.unit.event_strategies import any_event

EXAMPLES = Path(__file__).parent / "examples" / "events.jsonl"
CHECK = compile_shapes(read_table(1))

patient = settings(
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
    ],
)


def examples() -> dict[str, dict[str, Any]]:
    found = map(orjson.loads, EXAMPLES.read_bytes().splitlines())
    return {example["type"]: example["data"] for example in found}


def message(**changed: Any) -> dict[str, Any]:
    parts = [{"type": "text", "text": "hello"}]
    return {"message_id": "m", "role": "user", "parts": parts, "status": "complete", **changed}


def one_part(**part: Any) -> dict[str, Any]:
    return message(parts=[part])


def image(**changed: Any) -> dict[str, Any]:
    return one_part(type="image", media_type="image/png", **changed)


def checkpoint(**changed: Any) -> dict[str, Any]:
    return {"checkpoint_id": "c", "schema_version": 1, **changed}


def failed_tool(**error: Any) -> dict[str, Any]:
    return {"call_id": "c", "attempt": 1, "error": {"type": "error", "message": "m", **error}}


def test_rules_1_are_what_the_models_ask_for() -> None:
    assert read_table(1) == table_of_models(1), (
        "the models ask for other rules than rules_1.json holds. Before rules 1 are released: "
        "python -m commands.catalogue. Afterwards the table is frozen: models that ask for "
        "anything else need a new rules number, with a table of its own"
    )


def test_the_limits_of_rules_1_are_those_of_the_design() -> None:
    table = read_table(1)
    limits = {name: of for name, of in table.items() if isinstance(of, int)}
    assert limits == {
        "rules": 1,
        "partitions": 8,
        "append_window": 256,
        "max_events": 1_000,
        "max_request_bytes": 900_000,
        "max_records_bytes": 1_900_000,
        "max_depth": 100,
    }


@given(any_event)
@patient
def test_what_any_valid_event_is_written_as_is_taken_and_read_back(
    event: tuple[str, dict[str, Any]],
) -> None:
    event_type, fields = event
    built = validated(event_type, fields)
    raw = built.encoded()
    assert CHECK(event_type, 1, parse_strict(raw)) is None
    assert ascii(decode_event(event_type, 1, raw)) == ascii(built)
    assert decode_event(event_type, 1, raw).encoded() == raw


foreign_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "a", "text", "x" * 256, "\0", "USD", "2026-01-01T00:00:00Z"])
    | st.sampled_from(
        [
            {"$int": "5"},
            {"$text": ["a"]},
            {"$text": [55296]},
            {"$text": [5]},
            {"$bytes": "AA=="},
            {"$float": "nan"},
            {"$deep": [[]]},
            {"$deep": [{}]},
            {"$dict": [["a", "b"]]},
            {"$dict": [["a", 1]]},
            {"$dict": [["type", "text"], ["text", "b"]]},
            {"$foo": 1},
            {"type": "text", "text": "a"},
        ]
    ),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "a", "id", "$a"]), inside, max_size=3)
    ),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for at, item in inside:
        yield (*path, at)
        if isinstance(item, dict | list):
            yield from places(item, (*path, at))


def changed(data: Any, foreign: Any, choice: random.Random) -> None:
    near: list[tuple[Any, ...]] = [place for place in places(data) if len(place) < 6]
    place = choice.choice(near)
    for at in place[:-1]:
        data = data[at]
    last = place[-1]
    if choice.random() < 0.2:
        del data[last]
    else:
        data[last] = foreign


@given(any_event, foreign_json, st.randoms(use_true_random=False))
@patient
def test_the_checker_and_the_models_agree_on_foreign_bytes(
    event: tuple[str, dict[str, Any]], foreign: Any, choice: random.Random
) -> None:
    event_type, fields = event
    data = orjson.loads(validated(event_type, fields).encoded())
    if not data:
        return
    changed(data, foreign, choice)
    raw = orjson.dumps(data)
    try:
        parsed = parse_strict(raw)
    except FormError:
        return
    taken = CHECK(event_type, 1, parsed) is None
    assert parsed == orjson.loads(raw)
    if taken:
        decode_event(event_type, 1, raw)
    elif b'"$' not in raw:  # the checker asks for the plain spelling where the codec writes it
        with pytest.raises(AppendRejected):
            decode_event(event_type, 1, raw)


@pytest.mark.parametrize(("event_type", "data"), examples().items())
def test_every_example_is_taken(event_type: str, data: dict[str, Any]) -> None:
    assert CHECK(event_type, 1, data) is None


@pytest.mark.parametrize("event_type", sorted(BUILT_IN))
def test_an_object_without_its_required_fields_is_refused_with_the_first(event_type: str) -> None:
    table = read_table(1)["types"][event_type]["1"]["data"]
    fault = CHECK(event_type, 1, {})
    if table["required"]:
        assert fault == (next(iter(table["required"])), "is missing")
    elif "one_of" not in table:
        assert fault is None


LONG = "custom." + "x" * 249
ROLES = "is not one of system, developer, user, assistant"
ID_RULE = "must have 1 to 255 characters and no control characters"


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        (message(role="tool"), ("role", ROLES)),
        (message(role=["user"]), ("role", ROLES)),
        (message(message_id=""), ("message_id", ID_RULE)),
        (message(message_id="\x1f"), ("message_id", ID_RULE)),
        (message(message_id="é" * 255), None),
        (message(message_id="é" * 256), ("message_id", ID_RULE)),
        (message(message_id={"$text": ["m"]}), ("message_id", "is not text")),
        (message(message_id=None), ("message_id", "is not text")),
        (message(parts={}), ("parts", "is not a list")),
        (message(parts=["hello"]), ("parts[0]", "is not an object")),
        (message(name=5), ("name", "is not text")),
        (message(name=None), None),
        (message(unknown={"$deep": "anything"}), None),
        (one_part(text="hello"), ("parts[0]", "has no known type")),
        (one_part(type=["text"], text="a"), ("parts[0]", "has no known type")),
        (one_part(type="text"), ("parts[0].text", "is missing")),
        (one_part(type="text", text={"$text": [65]}), ("parts[0].text", "is not text")),
        (one_part(type="text", text={"$bytes": ""}), ("parts[0].text", "is not text")),
        (one_part(type="text", text={"$text": ["a", 55296]}), None),
        (image(), ("parts[0]", "needs one of artifact, uri, file_id")),
        (image(uri="u", size=1.0), ("parts[0].size", "is not a whole number")),
        (image(uri="u", size=-1), ("parts[0].size", "is less than 0")),
        (image(uri="u", size=1), None),
    ],
)
def test_a_fault_is_named_by_its_place_and_reason(
    fields: dict[str, Any], fault: tuple[str, str] | None
) -> None:
    assert CHECK("message.added", 1, fields) == fault


@pytest.mark.parametrize(
    ("event_type", "fields", "fault"),
    [
        ("session.expired", {"idle_s": True}, ("idle_s", "is not a number")),
        ("session.expired", {"idle_s": {"$float": "inf"}}, ("idle_s", "is not a number")),
        ("session.expired", {"idle_s": 2**63}, ("idle_s", "is greater than 9223372036854775807")),
        ("session.updated", {"$x": 1}, ("", "is an escape form, not an object with fields")),
        ("session.updated", {"labels": {"$bytes": ""}}, ("labels", "is not an object")),
        ("session.updated", {"labels": {"$dict": [["$x", 1]]}}, None),
        ("session.updated", {"labels": {"$foo": 1}}, None),
        ("environment.changed", {"packages": {"a": 1}}, ("packages.a", "is not text")),
        ("environment.changed", {"packages": {"$dict": [["$a", "1"]]}}, None),
        ("environment.changed", {"packages": {"$dict": [["$a", 1]]}}, ("packages", "is not text")),
        ("checkpoint.saved", checkpoint(), ("", "needs one of state, artifact")),
        ("checkpoint.saved", checkpoint(artifact=None), ("", "needs one of state, artifact")),
        ("checkpoint.saved", checkpoint(state=None), None),
        ("tool.failed", failed_tool(retryable=0), ("error.retryable", "is not true or false")),
        ("tool.failed", {**failed_tool(retryable=True), "output": {}}, ("output", "is not text")),
        ("tool.failed", {**failed_tool(retryable=True), "output": []}, None),
        ("custom.anything", {"a": {"$foo": [1]}}, None),
        ("custom.anything", {"$bytes": ""}, ("", "is not an object")),
        ("custom.anything", {"$dict": [["$bytes", ""]]}, None),
    ],
)
def test_each_kind_of_field_has_its_rules(
    event_type: str, fields: dict[str, Any], fault: tuple[str, str] | None
) -> None:
    assert CHECK(event_type, 1, fields) == fault


@pytest.mark.parametrize(
    "event_type",
    ["message.addet", "Message.added", "", "custom", "custom.", "custom.a b", "custom.\n", LONG],
)
def test_a_type_that_is_not_in_the_rules_is_refused(event_type: str) -> None:
    assert CHECK(event_type, 1, {}) == ("", f"type {event_type} is not in rules 1")


def test_a_version_that_is_not_in_the_rules_is_refused_but_for_custom_types() -> None:
    reason = "version 2 of message.added is not in rules 1"
    assert CHECK("message.added", 2, message()) == ("", reason)
    assert CHECK("custom.x", 7, {}) is None


def test_the_table_is_read_from_its_file_and_not_from_the_models() -> None:
    table = json.loads(json.dumps(read_table(1)))
    del table["types"]["message.added"]["1"]["data"]["required"]["status"]
    without_status = {name: of for name, of in message().items() if name != "status"}
    assert compile_shapes(table)("message.added", 1, without_status) is None
    assert CHECK("message.added", 1, without_status) == ("status", "is missing")
