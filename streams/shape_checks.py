"""The checks that shapes are compiled to: one plain function each, closed over what it asks for.

A check returns None, or the path from its value to the first fault and the reason. The words are
part of a decision: they change only with a new rules number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import orjson

from agentjournal.codec import revive
from agentjournal.events.fields import (
    AMOUNT_RULE,
    CURRENCY_RULE,
    ID_RULE,
    TIME_RULE,
    is_amount,
    is_currency,
    is_id,
    is_time,
)

Found: TypeAlias = tuple[tuple[str | int, ...], str]
Check: TypeAlias = Callable[[Any], Found | None]

_STRINGS: dict[str, tuple[Callable[[str], bool], str]] = {
    "id": (is_id, ID_RULE),
    "time": (is_time, TIME_RULE),
    "amount": (is_amount, AMOUNT_RULE),
    "currency": (is_currency, CURRENCY_RULE),
}


def any_value(_: Any) -> Found | None:
    """Take any JSON."""
    return None


def boolean(value: Any) -> Found | None:
    """Take true and false."""
    return None if type(value) is bool else ((), "is not true or false")


def text(value: Any) -> Found | None:
    """Take a string, or the codec's form of one that JSON cannot hold."""
    if type(value) is str or type(_stands_for(value)) is str:
        return None
    return (), "is not text"


def any_object(value: Any) -> Found | None:
    """Take any object, or the codec's form of one."""
    if type(_stands_for(value)) is dict:
        return None
    return (), "is not an object"


def texts_by_name(value: Any) -> Found | None:
    """Take an object, or the codec's form of one, whose values are all text."""
    named = _stands_for(value)
    if type(named) is not dict:
        return (), "is not an object"
    if named is not value:
        return None if all(type(item) is str for item in named.values()) else ((), "is not text")
    for name, item in named.items():
        if (found := text(item)) is not None:
            return (name, *found[0]), found[1]
    return None


def identifier(value: Any) -> Found | None:
    """Take an id. The same as `string("id")`; most ids are seen to be one without another call."""
    if type(value) is str:
        if 0 < len(value) < 256 and value.isascii() and value.isprintable():
            return None
        return None if is_id(value) else ((), ID_RULE)
    return (), "is not text"


def string(kind: str) -> Check:
    """Return the check of a string with rules of its own, which is never an escape form."""
    holds, rule = _STRINGS[kind]

    def check(value: Any) -> Found | None:
        if type(value) is not str:
            return (), "is not text"
        return None if holds(value) else ((), rule)

    return check


def one_of_values(values: Sequence[str]) -> Check:
    """Return the check of a string that is one of `values`."""
    known = tuple(values)
    reason = f"is not one of {', '.join(values)}"

    def check(value: Any) -> Found | None:
        return None if value in known else ((), reason)

    return check


def number(kind: str, smallest: int, largest: int) -> Check:
    """Return the check of an `integer` or a `number` within bounds."""
    types = frozenset({int}) if kind == "integer" else frozenset({int, float})
    wrong_type = "is not a whole number" if kind == "integer" else "is not a number"
    too_small, too_large = f"is less than {smallest}", f"is greater than {largest}"

    def check(value: Any) -> Found | None:
        if type(value) not in types:
            return (), wrong_type
        if smallest <= value <= largest:
            return None
        return (), too_small if value < smallest else too_large

    return check


def array(of: Check) -> Check:
    """Return the check of an array whose items are all `of`."""

    def check(value: Any) -> Found | None:
        if type(value) is not list:
            return (), "is not a list"
        for item in value:
            if of(item) is not None:
                return next(filter(None, map(at, enumerate(value))))
        return None

    def at(numbered: tuple[int, Any]) -> Found | None:
        found = of(numbered[1])
        return None if found is None else ((numbered[0], *found[0]), found[1])

    return check


def text_or_array(items: Check) -> Check:
    """Return the check of text, or of an array whose items are all `items`."""
    listed = array(items)

    def check(value: Any) -> Found | None:
        return listed(value) if type(value) is list else text(value)

    return check


def tagged(cases: Mapping[str, Check]) -> Check:
    """Return the check of an object whose field "type" says which of `cases` it is."""

    def check(value: Any) -> Found | None:
        try:
            case = cases[value["type"]]
        except (KeyError, TypeError):  # another type, or none, or no object
            return (), "has no known type" if type(value) is dict else "is not an object"
        return case(value)

    return check


class Field(NamedTuple):
    """A field that must be there. A value of type `fine`, or among `known`, needs no check."""

    name: str
    fine: type | None
    known: tuple[str, ...]
    check: Check


def record(
    required: Sequence[Field],
    optional: Sequence[tuple[str, Check]],
    one_of: Sequence[tuple[str, bool]],
) -> Check:
    """Return the check of an object with these fields; others pass.

    Null is as good as absent for an optional field. Of `one_of` at least one is there: (name,
    whether null counts as being there).
    """
    # Plain tuples: those with names unpack slower.
    fields = tuple((each.name, each.fine, each.known, each.check) for each in required)
    count = -1 if one_of else len(fields)

    def check(value: Any) -> Found | None:
        if type(value) is not dict:
            return (), "is not an object"
        for name, fine, known, of in fields:
            try:
                item = value[name]
            except KeyError:
                return (name,), "is missing"
            if type(item) is fine or item in known:
                continue
            if (found := of(item)) is not None:
                return (name, *found[0]), found[1]
        return None if len(value) == count else _rest(value, optional, one_of)

    return check


def _rest(
    value: dict[str, Any],
    optional: Sequence[tuple[str, Check]],
    one_of: Sequence[tuple[str, bool]],
) -> Found | None:
    for name, of in optional:
        item = value.get(name)
        if item is not None and (found := of(item)) is not None:
            return (name, *found[0]), found[1]
    if one_of and not any(_there(value, *choice) for choice in one_of):
        return (), f"needs one of {', '.join(name for name, _ in one_of)}"
    if len(value) == 1 and next(iter(value)).startswith("$"):
        return (), "is an escape form, not an object with fields"
    return None


def _there(value: dict[str, Any], name: str, null_counts: bool) -> bool:
    return value.get(name) is not None or (null_counts and name in value)


def _stands_for(value: Any) -> Any:
    """Return what an escape form stands for; anything else as it is."""
    if type(value) is dict and len(value) == 1 and next(iter(value)).startswith("$"):
        return revive(orjson.loads(orjson.dumps(value)))  # a copy: revive changes its argument
    return value
