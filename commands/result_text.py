"""Values of SQL results as text, as cells of CSV, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import isfinite
from typing import Any

import orjson

from commands.postgres_analyst import Json


def cell(value: Any) -> str:
    """Return a value as text: NULL is empty."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case Decimal():
            return format(value, "f")
        case bytes():
            return f"\\x{value.hex()}"
        case list() | dict() | tuple():
            return json_value(value).decode()
        case _:
            return str(value)


def json_row(names: Sequence[str], row: Sequence[Any]) -> bytes:
    """Return a row as a JSON object; numbers keep all of their digits."""
    return json_value(dict(zip(names, row, strict=True)))


def json_value(value: Any) -> bytes:
    """Return a value as JSON."""
    return orjson.dumps(_finite(value), default=_other, option=orjson.OPT_PASSTHROUGH_SUBCLASS)


def distinct_names(names: Sequence[str]) -> list[str]:
    """Return names that differ: a repeated one gets a number, as keys of an object must differ."""
    taken: set[str] = set()
    distinct: list[str] = []
    for name in names:
        number, candidate = 1, name
        while candidate in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate)
        distinct.append(candidate)
    return distinct


def _finite(value: Any) -> Any:
    """Return the value with every number that JSON does not have as text."""
    match value:
        case float() if not isfinite(value):
            return str(value)
        case dict():
            return {key: _finite(each) for key, each in value.items()}
        case list() | tuple():
            return [_finite(each) for each in value]
        case _:
            return value


def _other(value: Any) -> Any:
    match value:
        case Json():
            return orjson.Fragment(value.encode().replace(b"\r", b" ").replace(b"\n", b" "))
        case Decimal():
            return orjson.Fragment(format(value, "f")) if value.is_finite() else str(value)
        case bytes():
            return f"\\x{value.hex()}"
        case _:
            return str(value)
