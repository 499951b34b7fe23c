"""Which of many words are in a text: all of them are looked for in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick

_DIGIT = re.compile(r"\d")
_HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair: the automaton takes no such text


class LookedAt(NamedTuple):
    """What is in a text: the numbers of words, and whether there is a digit."""

    words: frozenset[int] = frozenset()
    has_digit: bool = False


class Vocabulary:
    """Words with a number each, by which they are found in texts whatever the case.

    They are looked for with the automaton of Aho and Corasick (1975), which is made anew when
    there are new words.
    """

    __slots__ = ("_automaton", "_numbers")

    def __init__(self) -> None:
        """A vocabulary without words."""
        self._numbers: dict[str, int] = {}
        self._automaton: AhoCorasick | None = None

    def numbers_of(self, words: Iterable[str]) -> frozenset[int]:
        """Return the numbers of words in lower case, which are looked for from now on."""
        known = len(self._numbers)
        numbers = frozenset([self._numbers.setdefault(each, len(self._numbers)) for each in words])
        if len(self._numbers) > known:
            self._automaton = None
        return numbers

    def look(self, text: str) -> LookedAt:
        """Return what is in a text."""
        if not text:
            return LookedAt()
        if self._automaton is None:
            self._automaton = AhoCorasick(list(self._numbers), store_patterns=False)
        whole = _HALF.sub("\ufffd", text.casefold())
        found = self._automaton.find_matches_as_indexes(whole, overlapping=True)
        words = frozenset([number for number, _, _ in found])
        return LookedAt(words, _DIGIT.search(text) is not None)
