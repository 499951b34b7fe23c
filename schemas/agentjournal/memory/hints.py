"""Which rules may match a sentence: those of which a hint is in it, found by an index.

Most rules have nothing to do with a sentence; a look at each hint of each takes most of the time.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

_DIGIT = re.compile(r"\d")
_LENGTH = 3  # characters by which hints are looked up


class LookedAt(NamedTuple):
    """A text in lower case, all stretches of three characters in it, and whether it has a digit."""

    lowered: str
    starts: frozenset[str]
    has_digit: bool

    def has_any(self, words: Iterable[str], starts: frozenset[str]) -> bool:
        """Return whether one of some words is in it, of which `starts_of` are given."""
        if starts.isdisjoint(self.starts):
            return False
        for word in words:  # noqa: SIM110 - half of what any() takes
            if word in self.lowered:
                return True
        return False


def looked_at(text: str) -> LookedAt:
    """Return a text as it is looked through for hints and literals, which stand in one line."""
    lowered = text.casefold()
    starts = frozenset[str]().union(*map(_starts_in, lowered.split("\n")))
    return LookedAt(lowered, starts, _DIGIT.search(lowered) is not None)


@lru_cache(maxsize=1_024)
def _starts_in(line: str) -> frozenset[str]:
    """Sentences are looked at once for themselves, and then as what was said before others."""
    return frozenset([line[at : at + _LENGTH] for at in range(len(line) - _LENGTH + 1)])


def starts_of(words: Iterable[str]) -> frozenset[str]:
    """Return what texts have at least one of if a word is in them; each has three characters."""
    return frozenset(word[:_LENGTH] for word in words)


class Hints:
    """Finds rules by their hints, and those without always, by the first letters of the hints."""

    __slots__ = ("_always", "_by_start", "_short", "_starts")

    def __init__(self, hints: Mapping[int, Collection[str]]) -> None:
        """`hints` are those of each rule, by its number."""
        self._always = [number for number, words in hints.items() if not words]
        self._by_start: dict[str, dict[str, list[int]]] = {}
        self._short: dict[str, list[int]] = {}
        for number, words in hints.items():
            for hint in words:
                self._of(hint).setdefault(hint, []).append(number)
        self._starts = frozenset(self._by_start)

    def _of(self, hint: str) -> dict[str, list[int]]:
        if len(hint) < _LENGTH:
            return self._short
        return self._by_start.setdefault(hint[:_LENGTH], {})

    def meant(self, text: LookedAt) -> list[int]:
        """Return the numbers of the rules that may match a text."""
        found, lowered = set(self._always), text.lowered
        for start in text.starts & self._starts:
            for hint, numbers in self._by_start[start].items():
                if hint in lowered:
                    found.update(numbers)
        for hint, numbers in self._short.items():
            if hint in lowered:
                found.update(numbers)
        return list(found)
