"""What may not change between a released JSON Schema and the one that is made today.

A released version stands for ever: the log keeps what was written by it, and readers in other
languages check by it. It may gain optional fields, and words of explanation; anything else,
narrower or wider, is a new version. So whatever the two say must be the same but for that, which
can be decided, and has a place; whether one pattern or `not` takes more than another cannot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_WORDS = frozenset({"$id", "$comment", "title", "description"})


def incompatible_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return what `new` says otherwise than the released `old`, each with its place."""
    return list(_changes("", old, new))


def _changes(path: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted((old.keys() | new.keys()) - _WORDS):
            yield from _member(f"{path}/{key}", key, old.get(key), new.get(key))
    elif _are_choices(old, new):
        if len(old) != len(new):
            yield f"{path}: was {len(old)} choices, is {len(new)}"
            return
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _changes(f"{path}/{index}", one, other)
    # Python takes true for 1, and 1 for 1.0.
    elif type(old) is not type(new) or old != new:
        yield f"{path}: was {_short(old)}, is {_short(new)}"


def _member(path: str, key: str, old: Any, new: Any) -> Iterator[str]:
    match key:
        case "properties":
            yield from _fields(path, old or {}, new or {})
        case "$defs":
            # New ones belong to new fields; old ones that are gone, to what is seen elsewhere.
            for name in old.keys() & new.keys() if old and new else ():
                yield from _changes(f"{path}/{name}", old[name], new[name])
        case "required":
            yield from _required(path, old or [], new or [])
        case _:
            yield from _changes(path, old, new)


def _fields(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name, field in old.items():
        if name in new:
            yield from _changes(f"{path}/{name}", field, new[name])
        else:
            yield f"{path}/{name}: is gone"


def _required(path: str, old: list[str], new: list[str]) -> Iterator[str]:
    for name in sorted(set(new) - set(old)):
        yield f"{path}: asks for {name}"
    for name in sorted(set(old) - set(new)):
        yield f"{path}: no longer has {name}"


def _are_choices(*values: Any) -> bool:
    return all(isinstance(each, list) and each and isinstance(each[0], Mapping) for each in values)


def _short(value: Any) -> str:
    text = "absent" if value is None else repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
