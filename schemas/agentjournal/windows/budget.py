"""What of a conversation fits: whole turns go, oldest first, and only when the budget is passed.

The cut is a fold over the entries from the first on, as if the window had been taken after each.
So it needs no memory of earlier windows, and between two cuts each window begins with the one
before: a provider's prompt cache holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import get_args

from agentjournal.errors import WindowTooSmall
from agentjournal.events import TextPart
from agentjournal.windows.conversation import Entry
from agentjournal.windows.identifiers import Identifier, IdentifierKind
from agentjournal.windows.measures import Measures

_BLOCK_SHARE = 0.1  # of the budget: how much the identifiers of what is gone may take
_KINDS = get_args(IdentifierKind)


@dataclass(slots=True)
class Cut:
    """What is shown, what is not, and the identifiers of it in an entry of their own."""

    shown: list[Entry] = field(default_factory=list[Entry])
    dropped: list[Entry] = field(default_factory=list[Entry])
    lost: list[Identifier] = field(default_factory=list[Identifier])
    tokens: int = 0


@dataclass(slots=True)
class _Fold:
    measures: Measures
    most: int
    target: int
    turns: list[list[Entry]] = field(default_factory=list[list[Entry]])
    dropped: list[Entry] = field(default_factory=list[Entry])
    block: Entry | None = None
    tokens: int = 0

    def add(self, entry: Entry) -> None:
        if not entry.kept and (entry.role == "user" or not self.turns):
            self.turns.append([entry])
        elif not entry.kept:
            self.turns[-1].append(entry)
        self.tokens += self.measures.tokens(entry)
        if self.tokens > self.most:
            self._trim()

    def _trim(self) -> None:
        before = len(self.dropped)
        while self.tokens > self.target and len(self.turns) > 1:
            for entry in self.turns.pop(0):
                self._drop(entry)
        # One turn alone is too much: its oldest steps go, its question and its last step stay.
        turn = self.turns[0] if self.turns else []
        first = 1 if turn and turn[0].role == "user" else 0
        while self.tokens > self.target and len(turn) > first + 1:
            self._drop(turn.pop(first))
        if len(self.dropped) > before:
            self._carry()

    def _drop(self, entry: Entry) -> None:
        self.dropped.append(entry)
        self.tokens -= self.measures.tokens(entry)

    def _carry(self) -> None:
        """Put the newest identifiers of what is gone into the block, as many as it may hold."""
        if self.block is not None:
            self.tokens -= self.measures.tokens_of(self.block)
        names = dict.fromkeys(
            name for entry in reversed(self.dropped) for name in self.measures.identifiers(entry)
        )
        chosen = self._fitting(list(names))
        self.block = _block(chosen, self.dropped[-1].version) if chosen else None
        if self.block is not None:
            self.tokens += self.measures.tokens_of(self.block)

    def _fitting(self, names: Sequence[Identifier]) -> Sequence[Identifier]:
        """Return as many of the first names as the block may hold."""
        room = int(min(self.most * _BLOCK_SHARE, self.most - self.tokens))
        fewest, most = 0, len(names)
        while fewest < most:
            middle = (fewest + most + 1) // 2
            if self.measures.tokens_of(_block(names[:middle], 0)) <= room:
                fewest = middle
            else:
                most = middle - 1
        return names[:fewest]


def cut(entries: Sequence[Entry], measures: Measures, most: int, trim_to: float) -> Cut:
    """Return what is shown of `entries` in at most `most` tokens.

    Raises WindowTooSmall when what must be kept does not fit.
    """
    fold = _Fold(measures, most, int(most * trim_to))
    for entry in entries:
        fold.add(entry)
    if fold.tokens > most:
        raise WindowTooSmall(entries[-1].version, fold.tokens, most)
    gone = {id(entry) for entry in fold.dropped}
    shown = [entry for entry in entries if id(entry) not in gone]
    visible = {name for entry in shown for name in measures.identifiers(entry)}
    if fold.block is not None:
        visible |= set(measures.identifiers_of(fold.block))
        at = next((n for n, entry in enumerate(shown) if not entry.kept), len(shown))
        shown.insert(at, fold.block)
    lost = dict.fromkeys(_identifiers(fold.dropped, measures))
    lost_names = [name for name in lost if name not in visible]
    return Cut(shown, fold.dropped, lost_names, fold.tokens)


def _identifiers(entries: Sequence[Entry], measures: Measures) -> Iterator[Identifier]:
    for entry in entries:
        yield from measures.identifiers(entry)


def _block(names: Sequence[Identifier], version: int) -> Entry:
    lines = ["[said earlier, not shown any more]"]
    for kind in _KINDS:
        values = [name.value for name in reversed(names) if name.kind == kind]
        if values:
            lines.append(f"{kind}: {' | '.join(values)}")
    return Entry("user", [TextPart(text="\n".join(lines))], version, kept=True)
