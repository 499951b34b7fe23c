"""What stands in every text that a pattern matches: a look for it is cheaper than the pattern.

The standard library's own parser of patterns says what a pattern is made of; where there is none,
nothing is known, and every pattern is tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

_SHORTEST = 3  # characters: shorter ones stand in most texts
_LONG_ENOUGH = 5  # more does not make a literal rarer
_MOST = 400  # alternatives: their beginnings are looked for, so many take hardly longer than few

_DIGITS = frozenset("0123456789")
_NEWLINE = ord("\n")  # texts are looked through line by line

Literals: TypeAlias = frozenset[str]


class Needs(NamedTuple):
    """What every text has that a pattern matches.

    `literals`: texts in lower case of which one is there, None: none are known; and whether there
    is a `digit`.
    """

    literals: Literals | None = None
    digit: bool = False


# Characters, by their numbers, that stand for other patterns.
Placeholders: TypeAlias = Mapping[int, Needs]


def needs_of(pattern: str, marks: Placeholders | None = None) -> Needs:
    """Return what is in all texts that a pattern matches, whatever their case.

    `marks` are characters of the pattern that stand for others.
    """
    parser = _parser()
    if parser is None:
        return Needs()
    items = parser.parse(pattern, re.IGNORECASE)
    found = _best(items, marks or {})
    if found is not None and _rarity(found) < _SHORTEST:
        found = None
    return Needs(found, _has_digit(items, marks or {}))


@cache
def _parser() -> Any:
    try:
        return import_module("re._parser")
    except ImportError:
        return None


def _best(items: Sequence[Any], marks: Placeholders) -> Literals | None:
    """Return what is rarest of all that must be there."""
    needed = _required(items, marks)
    return max(needed, key=lambda each: (_rarity(each), -len(each)), default=None)


def _required(items: Sequence[Any], marks: Placeholders) -> Iterator[Literals]:
    """Yield, of a sequence, sets of which one member must be there each."""
    run = ""
    for name, value in ((str(code), value) for code, value in items):
        if name == "LITERAL" and value < 128 and value != _NEWLINE:
            run += chr(value).casefold()
            continue
        if run:
            yield frozenset({run})
        run = ""
        inner = _needed_by(value, marks) if name == "LITERAL" else _of_item(name, value, marks)
        if inner is not None:
            yield inner
    if run:
        yield frozenset({run})


def _needed_by(mark: int, marks: Placeholders) -> Literals | None:
    return marks[mark].literals if mark in marks else None


def _of_item(name: str, value: Any, marks: Placeholders) -> Literals | None:
    if name == "BRANCH":
        return _of_branches(value[1], marks)
    inner = _inner(name, value)
    return None if inner is None else _best(inner, marks)


def _inner(name: str, value: Any) -> Any:
    """Return the sequence that must be there where an item is; None: there is none."""
    match name:
        case "SUBPATTERN":
            return value[-1]
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return value[2] if value[0] > 0 else None
        case "ASSERT":
            return value[1]
        case "ATOMIC_GROUP":
            return value
        case _:
            return None


def _of_branches(branches: Sequence[Any], marks: Placeholders) -> Literals | None:
    found: set[str] = set()
    for branch in branches:
        one = _best(branch, marks)
        if one is None:
            return None
        found |= one
    return frozenset(found) if len(found) <= _MOST else None


def _has_digit(items: Iterable[Any], marks: Placeholders) -> bool:
    """Return whether one of what must be there is, or has, a digit."""
    return any(_is_digit(str(code), value, marks) for code, value in items)


def _is_digit(name: str, value: Any, marks: Placeholders) -> bool:
    match name:
        case "LITERAL":
            return chr(value) in _DIGITS or (value in marks and marks[value].digit)
        case "IN":
            return all(_is_digits(str(code), member) for code, member in value)
        case "BRANCH":
            return all(_has_digit(each, marks) for each in value[1])
        case _:
            inner = _inner(name, value)
            return inner is not None and _has_digit(inner, marks)


def _is_digits(name: str, member: Any) -> bool:
    """Return whether a member of a class of characters is nothing but digits."""
    match name:
        case "CATEGORY":
            return str(member) == "CATEGORY_DIGIT"
        case "LITERAL":
            return chr(member) in _DIGITS
        case _:
            return name == "RANGE" and {chr(each) for each in member} <= _DIGITS


def _rarity(literals: Literals) -> int:
    return min(_LONG_ENOUGH, *(len(each) for each in literals), _LONG_ENOUGH)
