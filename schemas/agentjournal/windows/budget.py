"""What of a conversation fits: whole turns go, oldest first, and only when the budget is passed.

The cut is a fold over the entries from the first on, as if the window had been taken after each.
So it needs no memory of earlier windows, and between two cuts each window begins with the one
before: a provider's prompt cache holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from typing import TypeAlias, get_args

from agentjournal.errors import WindowTooSmall
from agentjournal.events import TextPart
from agentjournal.windows.conversation import Entry
from agentjournal.windows.identifiers import Identifier, IdentifierKind
from agentjournal.windows.measures import Carried, Measures

_BLOCK_SHARE = 0.1  # of the budget: how much the identifiers of what is gone may take
_KINDS = get_args(IdentifierKind)
_SEPARATOR, _PER_TOKEN = 3, 2  # characters between two identifiers; of them, about
_NOTHING = Carried(None, 0)

Counted: TypeAlias = tuple[Entry, int]  # with its tokens


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
    turns: list[list[Counted]] = field(default_factory=list[list[Counted]])
    dropped: list[Entry] = field(default_factory=list[Entry])
    history: int = 0  # names what is dropped, in its order
    names: dict[Identifier, None] = field(default_factory=dict[Identifier, None])
    """Of the first `named` dropped entries: each where it came last, the latest last."""
    named: int = 0
    carried: Carried = _NOTHING
    tokens: int = 0

    def add(self, entry: Entry) -> None:
        tokens = self.measures.tokens(entry)
        if not entry.kept and (entry.role == "user" or not self.turns):
            self.turns.append([(entry, tokens)])
        elif not entry.kept:
            self.turns[-1].append((entry, tokens))
        self.tokens += tokens
        if self.tokens > self.most:
            self._trim()

    def _trim(self) -> None:
        before = len(self.dropped)
        while self.tokens > self.target and len(self.turns) > 1:
            for entry, tokens in self.turns.pop(0):
                self._drop(entry, tokens)
        # One turn alone is too much: its oldest steps go, its question and its last step stay.
        turn = self.turns[0] if self.turns else []
        first = 1 if turn and turn[0][0].role == "user" else 0
        while self.tokens > self.target and len(turn) > first + 1:
            self._drop(*turn.pop(first))
        if len(self.dropped) > before:
            self._carry()

    def _drop(self, entry: Entry, tokens: int) -> None:
        self.dropped.append(entry)
        self.history = self.measures.history(self.history, entry)
        self.tokens -= tokens

    def _carry(self) -> None:
        """Put the newest identifiers of what is gone into the block, as many as it may hold."""
        self.tokens -= self.carried.tokens
        # Every later window comes by this cut again.
        known, place = self.measures.carried, (self.history, self.tokens, self.most)
        if place not in known:
            known[place] = self._newly_carried()
        self.carried = known[place]
        self.tokens += self.carried.tokens

    def _newly_carried(self) -> Carried:
        for entry in self.dropped[self.named :]:
            for name in reversed(self.measures.identifiers(entry)):
                self.names.pop(name, None)
                self.names[name] = None
        self.named = len(self.dropped)
        chosen = self._fitting(list(reversed(self.names)))
        if not chosen:
            return _NOTHING
        block = _block(chosen, self.dropped[-1].version)
        return Carried(block, self.measures.tokens_of(block))

    def _fitting(self, names: Sequence[Identifier]) -> Sequence[Identifier]:
        """Return as many of the first names as the block may hold."""
        room = int(min(self.most * _BLOCK_SHARE, self.most - self.tokens))
        fewest, most, middle = 0, len(names), _guessed(names, room)
        step = max(1, middle // 8)
        while fewest < most:  # what is tried stays near what fits: counting takes long
            if self.measures.tokens_of(_block(names[:middle], 0)) <= room:
                fewest, middle = middle, min(middle + step, (middle + most + 1) // 2)
            else:
                most, middle = middle - 1, max(middle - step, (fewest + middle) // 2)
            step *= 2
        return names[:fewest]


def _guessed(names: Sequence[Identifier], room: int) -> int:
    """Return about how many of the first names fit, and 1 at least."""
    characters = accumulate(len(name.value) + _SEPARATOR for name in names)
    return max(1, sum(1 for _ in takewhile((room * _PER_TOKEN).__ge__, characters)))


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
    block = fold.carried.block
    if block is not None:
        visible |= set(measures.identifiers_of(block))
        at = next((n for n, entry in enumerate(shown) if not entry.kept), len(shown))
        shown.insert(at, block)
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
