"""Kinds of fields, and the rules of their text: ids, times, money.

The sequencer decides by the same functions (`is_id`, `is_time`, …): what they accept is part of the
rules, and changes only with a new rules number.
"""

from __future__ import annotations

import re
from calendar import isleap
from math import isnan
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

MAX_INTEGER = 2**63 - 1  # what a bigint of SQL holds

_NOT_IN_IDS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_TIME = re.compile(
    r"([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]"
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?"
    r"(Z|[+-](?:0[0-9]|1[0-5]):[0-5][0-9])"
)
_AMOUNT = re.compile(r"-?(?:0|[1-9][0-9]{0,29})(?:\.[0-9]{1,30})?")
_CURRENCY = re.compile("[A-Z]{3}")
_BOUNDS: dict[Any, tuple[int, int]] = {}  # by the function that checks them
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

ID_RULE = "must have 1 to 255 characters and no control characters"
TIME_RULE = "must be a time with a zone, like 2026-01-31T12:00:00Z"
AMOUNT_RULE = 'must be a decimal number in a string, like "0.0125"'
CURRENCY_RULE = "must be a currency of three letters, like USD"


def is_id(text: str) -> bool:
    """Return whether `text` may be an id: 1 to 255 characters, none of them a control character."""
    if not 1 <= len(text) <= 255:
        return False
    return (text.isascii() and text.isprintable()) or _NOT_IN_IDS.search(text) is None


def is_time(text: str) -> bool:
    """Return whether `text` is an ISO 8601 date and time with a zone that SQL and Python hold."""
    match = _TIME.fullmatch(text)
    if match is None:
        return False
    year, month, day, zone = int(match[1]), int(match[2]), int(match[3]), match[4]
    days = 29 if month == 2 and isleap(year) else _DAYS[month - 1]
    # In the first and the last year another zone may be outside of what a date can be.
    return day <= days and (1 < year < 9999 or (year > 0 and zone == "Z"))


def is_amount(text: str) -> bool:
    """Return whether `text` is a decimal number of at most 30 digits before and after the point."""
    return _AMOUNT.fullmatch(text) is not None


def is_currency(text: str) -> bool:
    """Return whether `text` has the form of an ISO 4217 code."""
    return _CURRENCY.fullmatch(text) is not None


def checked_id(text: str) -> str:
    """Return `text` when it may be an id, as pydantic wants it said when it may not."""
    if not is_id(text):
        raise PydanticCustomError("id", ID_RULE)
    return text


def _checked_time(text: str) -> str:
    if not is_time(text):
        raise PydanticCustomError("time", TIME_RULE)
    return text


def _checked_amount(text: str) -> str:
    if not is_amount(text):
        raise PydanticCustomError("amount", AMOUNT_RULE)
    return text


def _checked_currency(text: str) -> str:
    if not is_currency(text):
        raise PydanticCustomError("currency", CURRENCY_RULE)
    return text


def _number(smallest: int, largest: int = MAX_INTEGER) -> PlainValidator:
    def checked(value: Any) -> int | float:
        if type(value) not in {int, float}:
            raise PydanticCustomError("number", "is not a number")
        if isnan(value):
            raise PydanticCustomError("nan", "is not a number but NaN")
        if value < smallest:
            raise PydanticCustomError("small", "is less than {bound}", {"bound": smallest})
        if value > largest:
            raise PydanticCustomError("large", "is greater than {bound}", {"bound": largest})
        return value  # type: ignore[no-any-return]  # its type was just checked

    _BOUNDS[checked] = (smallest, largest)
    return PlainValidator(checked)


def number_bounds(rule: Any) -> tuple[int, int] | None:
    """Return the smallest and the largest number that a rule of a field lets through."""
    return _BOUNDS.get(rule)


Text: TypeAlias = str
Id = Annotated[str, AfterValidator(checked_id), WithJsonSchema({"type": "string", "format": "id"})]
Time = Annotated[
    str, AfterValidator(_checked_time), WithJsonSchema({"type": "string", "format": "time"})
]
Amount = Annotated[
    str, AfterValidator(_checked_amount), WithJsonSchema({"type": "string", "format": "amount"})
]
Currency = Annotated[
    str, AfterValidator(_checked_currency), WithJsonSchema({"type": "string", "format": "currency"})
]

Integer = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Count = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
Ordinal = Annotated[int, Field(ge=1, le=MAX_INTEGER)]  # counts from 1: versions, attempts


def _number_schema(smallest: int, largest: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "number", "minimum": smallest, "maximum": largest})


Number = Annotated[int | float, _number(-MAX_INTEGER), _number_schema(-MAX_INTEGER, MAX_INTEGER)]
Span = Annotated[int | float, _number(0), _number_schema(0, MAX_INTEGER)]  # of time
Share = Annotated[int | float, _number(0, 1), _number_schema(0, 1)]
