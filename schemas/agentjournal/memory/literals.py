"""What stands in every text that a pattern matches: a look for it is cheaper than the pattern.

The standard library's own parser of patterns says what a pattern is made of; where there is none,
nothing is known, and every pattern is tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

_SHORTEST = 3  # characters: shorter ones stand in most texts
_LONG_ENOUGH = 5  # more does not make a literal rarer
_MOST = 400  # alternatives: their beginnings are looked for, so many take hardly longer than few

_NEWLINE = ord("\n")  # texts are looked through line by line

Literals: TypeAlias = frozenset[str]
# Characters, by their numbers, that stand for a pattern, and what that needs; None: nothing known.
Placeholders: TypeAlias = Mapping[int, Literals | None]


def literals_of(pattern: str, marks: Placeholders | None = None) -> Literals | None:
    """Return texts in lower case of which one is in all that a pattern matches, whatever its case.

    `marks` are characters of the pattern that stand for others. None: there is none that is known.
    """
    parser = _parser()
    if parser is None:
        return None
    found = _best(parser.parse(pattern, re.IGNORECASE), marks or {})
    return found if found is not None and _rarity(found) >= _SHORTEST else None


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
        inner = marks.get(value) if name == "LITERAL" else _of_item(name, value, marks)
        if inner is not None:
            yield inner
    if run:
        yield frozenset({run})


def _of_item(name: str, value: Any, marks: Placeholders) -> Literals | None:
    match name:
        case "SUBPATTERN":
            return _best(value[-1], marks)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return _best(value[2], marks) if value[0] > 0 else None
        case "ASSERT":
            return _best(value[1], marks)
        case "ATOMIC_GROUP":
            return _best(value, marks)
        case "BRANCH":
            return _of_branches(value[1], marks)
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


def _rarity(literals: Literals) -> int:
    return min(_LONG_ENOUGH, *(len(each) for each in literals), _LONG_ENOUGH)
