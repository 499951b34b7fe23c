"""The JSON Schemas of events take what the log takes, and are what docs/schemas holds."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agentjournal.codec import FormError, parse_strict
from agentjournal.events import BUILT_IN, validated
from agentjournal.events.fields import is_amount, is_currency, is_id, is_time
from commands.event_schemas import event_schema
from commands.schema_kinds import KINDS
from commands.schemas import ASYNCAPI, SCHEMAS, asyncapi_text, every_schema, schema_text
from tests.chat_files import read
from tests.unit.event_strategies import any_event
from tests.unit.test_shapes import CHECK, changed, examples, foreign_json, patient

OLDER = "docs/schemas is older than the models: run python -m commands.schemas"


@cache
def validator(event_type: str) -> Draft202012Validator:
    return Draft202012Validator(event_schema(BUILT_IN[event_type]))


@cache
def kind(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": KINDS})


def test_the_files_are_up_to_date() -> None:
    files = {file.relative_to(SCHEMAS).as_posix(): file for file in SCHEMAS.rglob("*.json")}
    made = every_schema()
    assert made.keys() <= files.keys(), OLDER
    for path, schema in made.items():
        assert files[path].read_text(encoding="utf-8") == schema_text(schema), (path, OLDER)
    assert (SCHEMAS / ASYNCAPI).read_text(encoding="utf-8") == asyncapi_text(), OLDER


def test_every_file_is_a_schema_that_needs_no_other_one() -> None:
    parts: set[bytes] = set()
    for file in SCHEMAS.rglob("*.json"):
        schema = orjson.loads(file.read_bytes())
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        known = schema.pop("$defs", {})
        for to in references([schema, known]):
            assert to.removeprefix("#/$defs/") in known, (file, to)
        parts.update(map(orjson.dumps, (schema, *known.values())))
    Draft202012Validator.check_schema({"anyOf": list(map(orjson.loads, parts))})


def references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if "$ref" in value else []
        return own + [to for item in value.values() for to in references(item)]
    return [to for item in value for to in references(item)] if isinstance(value, list) else []


def test_there_is_a_schema_of_every_version_of_every_type() -> None:
    for event_type, model in BUILT_IN.items():
        for version in range(1, model.schema_version + 1):
            assert (SCHEMAS / "events" / event_type / f"{version}.json").is_file(), event_type


@pytest.mark.parametrize(
    ("event_type", "data"), [each for each in examples().items() if each[0] in BUILT_IN]
)
def test_every_example_is_taken(event_type: str, data: dict[str, Any]) -> None:
    validator(event_type).validate(data)


@given(any_event)
@patient
def test_what_any_valid_event_is_written_as_is_taken(event: tuple[str, dict[str, Any]]) -> None:
    event_type, fields = event
    validator(event_type).validate(parse_strict(validated(event_type, fields).encoded()))


@given(any_event, foreign_json, st.randoms(use_true_random=False))
@patient
def test_the_schemas_and_the_rules_agree_on_foreign_bytes(
    event: tuple[str, dict[str, Any]], foreign: Any, choice: random.Random
) -> None:
    event_type, fields = event
    data = orjson.loads(validated(event_type, fields).encoded())
    if not data:
        return
    changed(data, foreign, choice)
    try:
        parsed = parse_strict(raw := orjson.dumps(data))
    except FormError:
        return
    fault = CHECK(event_type, 1, parsed)
    found = list(validator(event_type).iter_errors(parsed))
    if fault is None or not more_than_a_schema_says(fault[1], raw):
        assert (fault is None) is (not found), (fault, found)


def more_than_a_schema_says(reason: str, raw: bytes) -> bool:
    """Whether JSON Schema has no words for a fault: see `commands.event_schemas`."""
    return reason == "is not a whole number" or b'"$deep"' in raw or b'"$dict"' in raw


@pytest.mark.parametrize("value", [1.5, True, "1", None])
def test_the_schemas_know_whole_numbers_but_for_how_they_are_written(value: Any) -> None:
    lease = {"holder": "w", "fence": 1, "lease_s": 60}
    assert validator("lease.acquired").is_valid(lease)
    assert validator("lease.acquired").is_valid({**lease, "fence": 1.0})
    assert not validator("lease.acquired").is_valid({**lease, "fence": value})


JOINTS = st.sampled_from(["-", ":", "T", " ", "Z", "+", ".", "\n", "é"])
YEARS = st.sampled_from(["0000", "0001", "9999", "1900", "2000", "2023", "2024", "2100"])
PAIRS = st.sampled_from(
    ["00", "02", "04", "12", "13", "15", "16", "23", "24", "28", "29", "30", "31"]
)
OTHERS = st.sampled_from(["59", "60", "123456789", "1234567890"])
NUMBERS = YEARS | PAIRS | OTHERS


@st.composite
def near_times(draw: st.DrawFn) -> str:
    pieces = ["2024", "-", "02", "-", "29", "T", "23", ":", "59", ":", "59", ".", "5", "Z"]
    if draw(st.booleans()):
        pieces[-1:] = ["+", "15", ":", "59"]
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(pieces) - 1))
        pieces[at] = draw(NUMBERS if pieces[at].isdigit() else JOINTS)
    return "".join(pieces) + draw(st.sampled_from(["", "", "", "\n", " "]))


@given(near_times())
def test_the_schema_of_a_time_takes_what_the_rules_take(text: str) -> None:
    assert kind("Time").is_valid(text) is is_time(text)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("2026-01-31T12:00:00Z", True),
        ("2024-02-29 12:00+00:00", True),
        ("2023-02-29T12:00:00Z", False),
        ("1900-02-29T12:00:00Z", False),
        ("2000-02-29T12:00:00Z", True),
        ("2026-04-31T12:00:00Z", False),
        ("0000-01-01T00:00:00Z", False),
        ("0001-01-01T00:00:00Z", True),
        ("0001-01-01T00:00:00+01:00", False),
        ("9999-12-31T23:59:59-01:00", False),
        ("2026-01-31T12:00:00", False),
        ("2026-01-31T12:00:00Z\n", False),
        ("2026-01-31T24:00:00Z", False),
    ],
)
def test_a_time_is_one_that_there_is(text: str, is_one: bool) -> None:
    assert kind("Time").is_valid(text) is is_time(text) is is_one


@given(
    st.text("0123456789.-+eE\n ٣", max_size=6)
    | st.from_regex(r"-?[0-9]{29,31}(\.[0-9]{29,31})?\n?", fullmatch=True)
)
def test_the_schema_of_an_amount_takes_what_the_rules_take(text: str) -> None:
    assert kind("Amount").is_valid(text) is is_amount(text)


@given(st.text("AZaz\nÄ", max_size=4) | st.from_regex(r"[A-Z]{3}\n?", fullmatch=True))
def test_the_schema_of_a_currency_takes_what_the_rules_take(text: str) -> None:
    assert kind("Currency").is_valid(text) is is_currency(text)


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
    | st.sampled_from(["é" * 255, "é" * 256, "😀" * 255, "😀" * 256, "a\n", "\x9f", "\u2028"])
)
def test_the_schema_of_an_id_takes_what_the_rules_take(text: str) -> None:
    assert kind("Id").is_valid(text) is is_id(text)


REAL = Path(__file__).parents[3] / "shared" / "data" / "raw" / "tau_airline_openai_chat.json"


@pytest.mark.skipif(not REAL.exists(), reason="the real sessions are not beside this checkout")
def test_events_of_real_sessions_are_taken() -> None:
    taken: Counter[str] = Counter()
    for session in read(REAL.read_bytes()).sessions[:5]:
        for each in session.events:
            if each.type in BUILT_IN:
                validator(each.type).validate(orjson.loads(each.event.encoded()))
                taken[each.type] += 1
    assert taken["message.added"] > taken["tool.completed"] > 0
