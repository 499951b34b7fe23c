"""What is measured of each entry, once: an event does not change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agentjournal.events import AudioPart, DocumentPart, ImagePart, VideoPart
from agentjournal.windows.conversation import Entry
from agentjournal.windows.identifiers import Identifier, identifiers_in
from agentjournal.windows.tokens import Count

_PER_MESSAGE = 4  # tokens of framing that chat formats add to a message or a result
_PER_MEDIUM = 1_000  # tokens; what one really takes depends on the model and its size


class Carried(NamedTuple):
    """The identifiers of what was cut, as an entry, and the tokens that it takes."""

    block: Entry | None
    tokens: int


class Measures:
    """Tokens and identifiers of a session's entries."""

    def __init__(self, count: Count) -> None:
        self.count = count
        self._tokens: dict[tuple[int | None, ...], int] = {}
        self._histories: dict[tuple[int, tuple[int | None, ...]], int] = {}
        self.carried: dict[tuple[int, int, int], Carried] = {}  # by history, tokens and budget
        self._identifiers: dict[tuple[int | None, ...], Sequence[Identifier]] = {}

    def tokens(self, entry: Entry) -> int:
        """Return the tokens of an entry, results included."""
        found = self._tokens.get(entry.key)
        if found is None:
            found = self._tokens[entry.key] = self.tokens_of(entry)
        return found

    def identifiers(self, entry: Entry) -> Sequence[Identifier]:
        """Return the identifiers in an entry, each once, in its order."""
        found = self._identifiers.get(entry.key)
        if found is None:
            found = self._identifiers[entry.key] = self.identifiers_of(entry)
        return found

    def history(self, before: int, entry: Entry) -> int:
        """Return the number of the history that is `before` and then the entry; 0 is the empty one.

        The same entries in the same order have the same number, and others have another.
        """
        return self._histories.setdefault((before, entry.key), len(self._histories) + 1)

    def tokens_of(self, entry: Entry) -> int:
        """Count the tokens of an entry that is not an event's."""
        media = sum(
            isinstance(part, ImagePart | AudioPart | VideoPart | DocumentPart)
            for part in entry.parts
        )
        text = sum(map(self.count, entry.texts()))
        return text + _PER_MESSAGE * (1 + len(entry.results)) + _PER_MEDIUM * media

    @staticmethod
    def identifiers_of(entry: Entry) -> Sequence[Identifier]:
        """Find the identifiers of an entry that is not an event's."""
        return list(dict.fromkeys(n for text in entry.texts() for n in identifiers_in(text)))
