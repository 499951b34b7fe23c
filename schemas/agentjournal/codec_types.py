"""Types that the codec does not take: which only rename a built-in one, and what to write."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Set as AbstractSet
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from pydantic import BaseModel

_WRITABLE: tuple[Any, ...] = (str, int, float, bytes, list, dict)

# What the body of a class holds that defines nothing.
_EMPTY_BODY = frozenset(
    {
        "__annotations__",
        "__dict__",
        "__doc__",
        "__firstlineno__",
        "__module__",
        "__orig_bases__",
        "__parameters__",
        "__slots__",
        "__static_attributes__",
        "__weakref__",
    }
)

_INSTEAD: tuple[tuple[type[Any] | tuple[type[Any], ...], str], ...] = (
    (Enum, "its .value"),
    (BaseModel, '.model_dump(mode="json")'),
    ((tuple, AbstractSet), "list(…)"),
    ((bytearray, memoryview), "bytes(…)"),
    ((dt.date, dt.time), ".isoformat()"),
    ((Decimal, UUID), "str(…)"),
)


def exact(value: object) -> Any:
    """Return `value` as its built-in type when its class only names that type, else None."""
    for base in _WRITABLE:
        if isinstance(value, base):
            classes = type(value).__mro__
            added = classes[: classes.index(base)]
            empty = all(vars(a_class).keys() <= _EMPTY_BODY for a_class in added)
            return base(value) if empty and not getattr(value, "__dict__", None) else None
    return None


def what_to_write(value: object) -> str:
    """Return why `value` cannot be written, and what to write in its place."""
    name = type(value).__name__
    for types, instead in _INSTEAD:
        if isinstance(value, types):
            return f"{name} is not written as it is: write {instead}"
    for base in _WRITABLE:
        if isinstance(value, base):
            return f"{name} is not {base.__name__} itself: write {base.__name__}(…)"
    if dataclasses.is_dataclass(value):
        return f"{name} is not written as it is: write dataclasses.asdict(…)"
    return f"{name} cannot be written: use None, bool, int, float, str, bytes, list and dict"
