"""From the log to events: for ever, through upcasters, and without losing what is not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

import agentjournal
from agentjournal.codec import decode
from agentjournal.errors import AppendRejected
from agentjournal.events import (
    BUILT_IN,
    CustomEvent,
    Event,
    MessageAdded,
    UnknownEvent,
    decode_event,
    register,
    validated,
)
from commands.catalogue import EVENTS_PAGE, RULES_TABLE, events_page, rules_table

EXAMPLES = Path(__file__).parent / "examples" / "events.jsonl"


def examples() -> list[tuple[str, int, bytes]]:
    found = [(line, orjson.loads(line)) for line in EXAMPLES.read_bytes().splitlines()]
    return [
        (example["type"], example["schema_version"], line.partition(b'"data":')[2][:-1])
        for line, example in found
    ]


def sorted_json(raw: bytes) -> bytes:
    return orjson.dumps(orjson.loads(raw), option=orjson.OPT_SORT_KEYS)


def test_there_is_an_example_of_every_type() -> None:
    assert {event_type for event_type, _, _ in examples()} >= set(BUILT_IN)


@pytest.mark.parametrize(("event_type", "schema_version", "raw"), examples())
def test_every_event_that_was_ever_published_is_read_for_ever(
    event_type: str, schema_version: int, raw: bytes
) -> None:
    event = decode_event(event_type, schema_version, raw)
    assert type(event) is BUILT_IN.get(event_type, CustomEvent)
    assert sorted_json(event.encoded()) == sorted_json(raw)
    assert validated(event_type, decode(raw)) == event


@pytest.mark.parametrize(("event_type", "schema_version", "raw"), examples())
def test_an_example_has_every_field_of_its_type(
    event_type: str, schema_version: int, raw: bytes
) -> None:
    assert schema_version == 1
    if event_type in BUILT_IN:
        model = BUILT_IN[event_type]
        names = {field.alias or name for name, field in model.model_fields.items()}
        assert set(decode(raw)) == names


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b'{"role":"user","parts":[],"status":"complete"}', "message_id"),
        (b'{"message_id":"m","role":"user","parts":[]}', "status"),
        (b'{"message_id":"m","role":"user","content":"a"}', "status"),
    ],
)
def test_what_a_constructor_would_fill_must_be_there_in_the_log(raw: bytes, path: str) -> None:
    with pytest.raises(AppendRejected) as refused:
        decode_event("message.added", 1, raw)
    assert (refused.value.path, refused.value.reason) == (path, "is missing")


def test_a_field_that_a_constructor_would_fill_deep_inside_must_be_there_too() -> None:
    step = b'{"step_id":"s","title":"t","depends_on":[]}'
    with pytest.raises(AppendRejected) as refused:
        decode_event("plan.created", 1, b'{"plan_id":"p","goal":"g","steps":[%s]}' % step)
    assert (refused.value.path, refused.value.reason) == ("steps[0].effect", "is missing")


def test_data_that_is_no_object_is_refused() -> None:
    with pytest.raises(AppendRejected, match="data: is not an object"):
        decode_event("custom.x", 1, b'{"$bytes":""}')


def test_a_type_or_a_version_of_a_newer_writer_is_kept_whole() -> None:
    raw = b'{"message_id":5,"\\ud83d\\ude00":{"$int":"7"}}'
    newer = decode_event("message.added", 2, raw)
    other = decode_event("video.streamed", 3, raw)
    for event, event_type, version in ((newer, "message.added", 2), (other, "video.streamed", 3)):
        assert type(event) is UnknownEvent
        assert (event.type, event.schema_version) == (event_type, version)
        assert event.fields == {"message_id": 5, "😀": 7}


def test_a_users_typed_event_is_read_at_its_current_version() -> None:
    class OrderPlaced(Event):
        order: int
        currency: str
        lines: list[int]

    def with_currency(fields: dict[str, Any]) -> dict[str, Any]:
        return {**fields, "currency": "EUR"}

    def with_lines(fields: dict[str, Any]) -> dict[str, Any]:
        return {**fields, "lines": [fields["order"]]}

    agentjournal.register(
        OrderPlaced,
        type="custom.order_placed",
        version=3,
        upcasters={1: with_currency, 2: with_lines},
    )
    expected = OrderPlaced(order=7, currency="EUR", lines=[7])
    assert decode_event("custom.order_placed", 1, b'{"order":7}') == expected
    assert decode_event("custom.order_placed", 2, b'{"order":7,"currency":"EUR"}') == expected
    assert decode_event("custom.order_placed", 3, expected.encoded()) == expected
    assert type(decode_event("custom.order_placed", 4, b"{}")) is CustomEvent
    assert (OrderPlaced.type, OrderPlaced.schema_version) == ("custom.order_placed", 3)
    with pytest.raises(AppendRejected, match="order: is not a whole number"):
        validated("custom.order_placed", {"order": "7", "currency": "EUR", "lines": []})


def test_a_users_model_may_get_a_field_with_a_default_without_a_new_version() -> None:
    class Rated(Event):
        stars: int
        weight: int = 1

    register(Rated, type="custom.rated")
    assert decode_event("custom.rated", 1, b'{"stars":5}') == Rated(stars=5, weight=1)


@pytest.mark.parametrize("name", ["order_placed", "message.added", "custom.", "custom.a b"])
def test_a_users_type_is_named_custom(name: str) -> None:
    class Mine(Event):
        x: int = 1

    with pytest.raises(ValueError, match=r"custom\.<name>"):
        register(Mine, type=name)


def test_each_older_version_needs_its_upcaster() -> None:
    class Mine(Event):
        x: int = 1

    with pytest.raises(ValueError, match="needs upcasters for versions: 1, 2"):
        register(Mine, type="custom.older", version=3, upcasters={2: dict})
    with pytest.raises(ValueError, match="needs upcasters for versions: none"):
        register(Mine, type="custom.older", upcasters={1: dict})


def test_two_models_cannot_share_a_type_but_a_reloaded_module_may_register_again() -> None:
    class Mine(Event):
        x: int = 1

    class Yours(Event):
        y: int = 1

    register(Mine, type="custom.mine")
    register(Mine, type="custom.mine")
    with pytest.raises(ValueError, match="already"):
        register(Yours, type="custom.mine")


def test_an_event_read_from_the_log_equals_the_one_that_was_written() -> None:
    event = MessageAdded(role="user", content="hello", name=None, later=[1])
    assert decode_event("message.added", 1, event.encoded()) == event


def test_the_page_of_events_is_up_to_date() -> None:
    assert EVENTS_PAGE.read_text(encoding="utf-8") == events_page(), (
        "docs/events.md is older than the models: run python -m commands.catalogue"
    )


def test_the_rules_table_is_written_as_the_command_writes_it() -> None:
    assert RULES_TABLE.read_text(encoding="utf-8") == rules_table()
