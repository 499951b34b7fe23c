"""A plain validator takes nothing that the model does not, and makes of it the same event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from agentjournal.codec import decode, encode, may_hold_forms
from agentjournal.events import BUILT_IN, Event, NoteSet
from agentjournal.events.decode import decode_plain
from agentjournal.events.wire import missing
from tests.unit.event_strategies import any_event, values

EXAMPLES = Path(__file__).parent / "examples" / "events.jsonl"
_ODD = values | st.sampled_from(
    [2**63, 2**63 - 1, -(2**63), 2.0**63, 1.0, True, "", "\x85", "a" * 256]
)


def by_the_model(event_type: str, fields: dict[str, Any]) -> Event | None:
    """Return what the model itself makes of fields in the log, None when it refuses them."""
    try:
        event = BUILT_IN[event_type].model_validate(fields)
    except ValidationError:
        return None
    return None if any(missing(event)) else event


def given_fields(value: Any) -> Iterator[Any]:
    """Yield, for each record in a value, which fields it was given and its unknown ones."""
    if isinstance(value, BaseModel):
        yield type(value), value.model_fields_set, value.model_extra == {}
        for inner in vars(value).values():
            yield from given_fields(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from given_fields(inner)


def check(event_type: str, fields: dict[str, Any]) -> bool:
    """Compare the two ways; return whether the plain one takes the fields."""
    raw = encode(fields)
    expected = by_the_model(event_type, decode(raw))
    [event] = decode_plain(event_type, 1, [raw])
    if event is None:
        return False
    assert expected is not None, "it takes what the model refuses"
    assert repr(event) == repr(expected)  # unlike ==, it tells 1 from 1.0 and knows NaN
    assert event.encoded() == expected.encoded()
    assert list(given_fields(event)) == list(given_fields(expected))
    return True


@given(any_event)
def test_a_plain_validator_makes_the_models_event(made: tuple[str, dict[str, Any]]) -> None:
    check(*made)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items: Mapping[Any, Any] = {}
    if isinstance(value, dict):
        items = value
    elif isinstance(value, list):
        items = dict(enumerate(value))
    for at, inner in items.items():
        yield (*path, at)
        if len(path) < 4:
            yield from _places(inner, (*path, at))


@given(any_event, st.data())
def test_it_takes_nothing_that_the_model_refuses(
    made: tuple[str, dict[str, Any]], data: st.DataObject
) -> None:
    event_type, fields = made
    places = list(_places(fields))
    if not places:
        return
    *around, last = data.draw(st.sampled_from(places))
    inside: Any = fields
    for at in around:
        inside = inside[at]
    if data.draw(st.booleans()):
        inside[last] = data.draw(_ODD)
    else:
        del inside[last]
    check(event_type, fields)


@pytest.mark.parametrize("event_type", sorted(BUILT_IN))
def test_every_type_has_one_that_takes_its_example(event_type: str) -> None:
    for line in EXAMPLES.read_bytes().splitlines():
        example = decode(line)
        if example["type"] == event_type:
            assert check(event_type, example["data"])


def test_what_stands_beside_the_fields_is_taken_too() -> None:
    """Records of what a model answered have such fields: reading them is no slower."""
    beside = {"item": {"id": "msg_1"}, "usage": None, "$odd": [1.0, 2**70]}
    parts = [
        {"type": "text", "text": "a", **beside},
        {"type": "reasoning", "provider": "openai", **beside},
        {"type": "tool_call", "call_id": "c", "name": "n", "arguments_text": "", **beside},
        {"type": "audio", "media_type": "audio/wav", "file_id": "f", **beside},
    ]
    message = {"message_id": "m", "role": "assistant", "parts": parts, "status": "complete"}
    assert check("message.added", {**message, **beside})


@given(st.lists(any_event, max_size=8), st.randoms(use_true_random=False))
def test_many_at_once_are_read_as_each_alone(
    made: list[tuple[str, dict[str, Any]]], chance: Random
) -> None:
    by_type: dict[str, list[bytes]] = {}
    for event_type, fields in made:
        broken = dict(list(fields.items())[1:]) if chance.random() < 0.2 else fields
        by_type.setdefault(event_type, []).append(encode(broken))
    for event_type, raws in by_type.items():
        read = decode_plain(event_type, 1, raws)
        assert len(read) == len(raws)
        for raw, event in zip(raws, read, strict=True):
            [alone] = decode_plain(event_type, 1, [raw])
            assert repr(event) == repr(alone)
            if event is not None:
                assert repr(event) == repr(by_the_model(event_type, decode(raw)))


@pytest.mark.parametrize("other", [b'{"key":"k"}', b'{"key":"","value":1}', b"7", b"[]"])
def test_an_event_that_does_not_fit_is_left_out_alone(other: bytes) -> None:
    raws = [b'{"key":"a","value":1}', other, b'{"key":"b","value":{"$int":"7"}}']
    read = decode_plain("note.set", 1, [*raws, other])
    assert read == [NoteSet(key="a", value=1), None, NoteSet(key="b", value=7), None]


@pytest.mark.parametrize(
    "other", [b"", b'{"key":"k","value":[1,2}', b'{"key":"k","value":1},{"key":"l","value":2}']
)
def test_what_is_not_one_json_value_is_never_read_as_another_event(other: bytes) -> None:
    known = NoteSet(key="a", value=1)
    first, second, last = decode_plain("note.set", 1, [known.encoded(), other, known.encoded()])
    assert second is None
    assert first in (None, known)
    assert last in (None, known)


@pytest.mark.parametrize(
    ("raw", "holds"),
    [
        (b'{"key":"k","value":{"$int":"1"}}', True),
        (b'{"key":"k","value":{ \n\t\r"\\u0024int":"1"}}', True),
        (b'{"key":"k","value":"{\\"$int\\":\\"1\\"}"}', False),
        (b'{"key":"$int","value":"costs {$5}"}', False),
    ],
)
def test_a_text_that_looks_like_an_escape_form_is_none(raw: bytes, *, holds: bool) -> None:
    assert may_hold_forms(raw) == holds


@given(values)
def test_what_holds_no_escape_form_is_read_as_it_stands(value: Any) -> None:
    raw = encode({"key": value})
    if not may_hold_forms(raw):
        assert repr(decode(raw)) == repr(from_json(raw))
