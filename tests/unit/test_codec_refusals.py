"""What the codec does not write: refused with its place and what to write instead."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
from collections import OrderedDict, defaultdict
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from agentjournal.codec import decode, encode
from agentjournal.errors import AppendRejected

TAKEN = "use None, bool, int, float, str, bytes, list and dict"
NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


class Colour(enum.Enum):
    RED = "red"


class Name(str):
    """A name of its own for text, and nothing else."""

    __slots__ = ()


class Names(list[str]):
    """A name of its own for a list."""


class Loud(str):
    __slots__ = ()

    def __str__(self) -> str:
        return self.upper()


class Level(enum.IntEnum):
    LOW = 1


class Word(enum.StrEnum):
    HI = "hi"


@dataclasses.dataclass
class Point:
    x: int


class Model(BaseModel):
    x: int = 1


@pytest.mark.parametrize(
    ("value", "instead"),
    [
        ((1,), "tuple is not written as it is: write list(…)"),
        ({1}, "set is not written as it is: write list(…)"),
        (frozenset({1}), "frozenset is not written as it is: write list(…)"),
        (bytearray(b"a"), "bytearray is not written as it is: write bytes(…)"),
        (NOON, "datetime is not written as it is: write .isoformat()"),
        (dt.date(2026, 1, 1), "date is not written as it is: write .isoformat()"),
        (Decimal("1.5"), "Decimal is not written as it is: write str(…)"),
        (UUID(int=1), "UUID is not written as it is: write str(…)"),
        (Colour.RED, "Colour is not written as it is: write its .value"),
        (Level.LOW, "Level is not written as it is: write its .value"),
        (Word.HI, "Word is not written as it is: write its .value"),
        (Point(1), "Point is not written as it is: write dataclasses.asdict(…)"),
        (Model(), 'Model is not written as it is: write .model_dump(mode="json")'),
        (OrderedDict(a=1), "OrderedDict is not dict itself: write dict(…)"),
        (defaultdict(int), "defaultdict is not dict itself: write dict(…)"),
        (Loud("a"), "Loud is not str itself: write str(…)"),
        (object(), "object cannot be written: " + TAKEN),
        (1j, "complex cannot be written: " + TAKEN),
    ],
)
def test_other_types_are_refused_and_never_changed(value: Any, instead: str) -> None:
    for place, whole in {"value": value, "parts[0].x": {"a": 1, "parts": [{"x": value}]}}.items():
        with pytest.raises(AppendRejected) as refused:
            encode(whole)
        assert (refused.value.path, refused.value.reason) == (place, instead)


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        (1, "1"),
        (None, "None"),
        (True, "True"),
        ((1,), "of type tuple"),
        (b"a", "of type bytes"),
        (Name("a"), "of type Name"),
    ],
)
def test_a_key_that_is_no_text_is_refused_with_the_place_of_its_dict(key: Any, shown: str) -> None:
    with pytest.raises(AppendRejected) as refused:
        encode({"a": [{key: 1}]})
    assert refused.value.path == "a[0]"
    assert refused.value.reason == f"the key {shown} is no text: write str(…)"


def test_the_first_wrong_place_is_named_in_text_with_surrogates_too() -> None:
    with pytest.raises(AppendRejected) as refused:
        encode({"a": "\ud800", "b": {"c": [1, {2}]}, "d": {3}})
    assert refused.value.path == "b.c[1]"


def test_a_wrong_value_far_inside_is_named_by_its_whole_path() -> None:
    value: Any = {"x": {1}}
    for _ in range(150):
        value = {"a": [value]}
    with pytest.raises(AppendRejected) as refused:
        encode(value)
    assert refused.value.path == ".".join(["a[0]"] * 150) + ".x"


def test_a_value_that_contains_itself_is_refused() -> None:
    looped: dict[str, Any] = {}
    looped["a"] = [looped]
    with pytest.raises(AppendRejected, match="contains the list or dict that it is in"):
        encode(looped)


def test_the_same_list_twice_side_by_side_is_no_loop() -> None:
    inside = [1]
    value: Any = [inside, inside]
    for _ in range(120):
        value = [value]
    assert decode(encode(value)) == value


def test_a_class_that_only_names_a_built_in_type_is_written_as_that_type() -> None:
    written = encode({"a": Name("x"), "b": Names(["y"])})
    assert written == b'{"a":"x","b":["y"]}'
