"""Which rules may match a sentence: those of which a hint is in it, found by an index.

Most rules have nothing to do with a sentence; a look at each hint of each takes most of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

_LENGTH = 3  # characters by which hints are looked up


class _Hinted(Protocol):
    @property
    def hints(self) -> tuple[str, ...]: ...


class Hints:
    """Finds the rules whose hints are in a text, by the first letters of the hints."""

    __slots__ = ("_always", "_by_start")

    def __init__(self, rules: Sequence[_Hinted]) -> None:
        self._always = [number for number, rule in enumerate(rules) if not rule.hints]
        self._by_start: dict[str, dict[str, list[int]]] = {}
        for number, rule in enumerate(rules):
            for hint in rule.hints:
                of_start = self._by_start.setdefault(hint[:_LENGTH], {})
                of_start.setdefault(hint, []).append(number)

    def meant(self, lowered: str) -> list[int]:
        """Return the numbers of the rules that may match a text in lower case, in their order."""
        found = set(self._always)
        for start in set(_starts(lowered)) & self._by_start.keys():
            for hint, numbers in self._by_start[start].items():
                if hint in lowered:
                    found.update(numbers)
        return sorted(found)


def _starts(text: str) -> Iterator[str]:
    for length in range(1, _LENGTH + 1):
        for at in range(len(text) - length + 1):
            yield text[at : at + length]
