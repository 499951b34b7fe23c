"""Patterns with fragments in them: filled in, and what must be in a text for one to match.

A filled pattern may be a hundred times as long as it was written, so both are asked for when they
are needed first; and what a fragment needs is found once, not again for each pattern it is in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

from agentjournal.errors import NotConfigured
from agentjournal.memory.literals import Needs, Placeholders, needs_of

_FRAGMENT = re.compile(r"\{\{(\w+)\}\}")
_MAX_DEPTH = 8  # of fragments in fragments
_FIRST = 0xE000  # of the characters for private use, which stand for fragments


class Filling(Protocol):
    """Makes patterns of what is written."""

    def filled(self, text: str) -> str:
        """Return a pattern without fragments. Raises NotConfigured for one that is not known."""
        ...

    def needs(self, text: str) -> Needs:
        """Return what is in all texts that the pattern matches."""
        ...


class Templates:
    """Patterns that are written with the fragments of a language."""

    def __init__(self, fragments: Mapping[str, str], place: str = "") -> None:
        """`place` is named where a fragment is not known."""
        self._fragments, self._place = dict(fragments), place
        self._filled: dict[str, str] = {}
        self._needed: dict[str, Needs] = {}

    def also(self, fragments: Mapping[str, str]) -> Templates:
        """Return templates that know further fragments, and go before those of the same name."""
        more = Templates({**self._fragments, **fragments}, self._place)
        more._filled = {n: each for n, each in self._filled.items() if n not in fragments}
        more._needed = {n: each for n, each in self._needed.items() if n not in fragments}
        return more

    def fragment(self, name: str) -> str | None:
        """Return a fragment, filled; None: there is none of the name. Raises NotConfigured."""
        return self._of(name, 0) if name in self._fragments else None

    def filled(self, text: str) -> str:
        """Return a pattern without fragments. As the port."""
        return self._fill(text, 0)

    def needs(self, text: str) -> Needs:
        """Return what is in all texts that the pattern matches. As the port."""
        names = list(dict.fromkeys(_FRAGMENT.findall(text)))
        marks: Placeholders = {_FIRST + at: self._needs_of(name) for at, name in enumerate(names)}
        places = {name: chr(_FIRST + at) for at, name in enumerate(names)}
        return needs_of(_FRAGMENT.sub(lambda found: places[found[1]], text), marks)

    def _needs_of(self, name: str) -> Needs:
        if name not in self._needed:
            self._needed[name] = Needs()  # one that is made of itself needs nothing that is known
            self._needed[name] = self.needs(self._written(name))
        return self._needed[name]

    def _fill(self, text: str, depth: int) -> str:
        return _FRAGMENT.sub(lambda found: f"(?:{self._of(found[1], depth)})", text)

    def _of(self, name: str, depth: int) -> str:
        if depth > _MAX_DEPTH:
            raise NotConfigured(f"{self._place}: a fragment is made of itself")
        if name not in self._filled:
            self._filled[name] = self._fill(self._written(name), depth + 1)
        return self._filled[name]

    def _written(self, name: str) -> str:
        if name not in self._fragments:
            raise NotConfigured(f"{self._place}: there is no fragment {name!r}")
        return self._fragments[name]
