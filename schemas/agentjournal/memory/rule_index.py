"""Which rules may match a sentence, and which of their patterns: those whose words are there.

Most rules have nothing to do with a sentence. What must be in a text for a pattern to match takes
longer to find out than most sessions take, so it is found out for a rule when it is needed first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from threading import Lock
from typing import NamedTuple, TypeAlias

from agentjournal.memory.hints import LookedAt, Vocabulary
from agentjournal.memory.rule import Pattern, Rule

Meant: TypeAlias = list[tuple[Rule, Sequence[Pattern]]]


class _Wanted(NamedTuple):
    """What must be in a text: one of some words, by their numbers, None: any; and a digit."""

    words: frozenset[int] | None
    digit: bool

    def is_in(self, text: LookedAt) -> bool:
        if self.digit and not text.has_digit:
            return False
        return self.words is None or not self.words.isdisjoint(text.words)


class _Entry(NamedTuple):
    """A rule with what its patterns want, of the sentence and of what was said before it.

    `words` are those of all of its patterns, None where one of them may be in any text.
    """

    rule: Rule
    words: frozenset[int] | None
    patterns: Sequence[tuple[Pattern, frozenset[int] | None, bool]]
    needs: _Wanted | None
    asked: _Wanted | None
    about: _Wanted | None

    def meant(self, text: LookedAt, asked: LookedAt, before: LookedAt) -> list[Pattern]:
        """Return the patterns that may match a sentence after what was said."""
        there = text.words
        if self.words is not None and self.words.isdisjoint(there):
            return []
        if self.asked is not None:
            if not self.asked.is_in(asked):
                return []
        elif self.about is not None and not self.about.is_in(before):
            return []
        if self.needs is not None and not self.needs.is_in(text):
            return []
        # As `_Wanted.is_in`: a call for each takes as long as all of the rest.
        return [
            pattern
            for pattern, words, digit in self.patterns
            if (words is None or not words.isdisjoint(there)) and (text.has_digit or not digit)
        ]


class _Table:
    """Finds rules by a word in a text, and those that name none always."""

    __slots__ = ("_always", "_by_word")

    def __init__(self) -> None:
        self._always: list[int] = []
        self._by_word: defaultdict[int, list[int]] = defaultdict(list)

    def add(self, rule: int, words: Iterable[int]) -> None:
        known = False
        for word in words:
            self._by_word[word].append(rule)
            known = True
        if not known:
            self._always.append(rule)

    def find(self, text: LookedAt) -> set[int]:
        found = set(self._always)
        for word in text.words & self._by_word.keys():
            found.update(self._by_word[word])
        return found


class RuleIndex:
    """Finds the rules and patterns that may match. Threads may share it."""

    __slots__ = ("_answering", "_entries", "_going_on", "_lock", "_rules", "_said", "_vocabulary")

    def __init__(self, rules: Sequence[Rule]) -> None:
        """An index of rules in the order in which they are tried."""
        self._rules = rules
        self._lock = Lock()
        self._vocabulary = Vocabulary()
        self._entries: dict[int, _Entry] = {}
        self._said, self._answering, self._going_on = _Table(), _Table(), _Table()
        for number, rule in enumerate(rules):
            table, words = self._place(rule)
            table.add(number, self._vocabulary.numbers_of(words))

    def _place(self, rule: Rule) -> tuple[_Table, Collection[str]]:
        """Return what a rule is looked for by: its hints, or else what it answers or goes on about.

        What is left is looked for by what must be in its sentences.
        """
        if rule.hints:
            return self._said, rule.hints
        if rule.asked is not None:
            return self._answering, rule.asked.needs().literals or ()
        if rule.about is not None:
            return self._going_on, rule.about.needs().literals or ()
        every = [each.needs().literals for each in rule.patterns]
        return self._said, () if None in every else frozenset().union(*filter(None, every))

    def meant(self, sentence: str, asked: str, before: str) -> Meant:
        """Return what may match a sentence after what was said: rules in their order."""
        with self._lock:
            numbers, texts = self._find(sentence, asked, before)
            new = numbers - self._entries.keys()
            for number in new:
                self._entries[number] = self._entry(self._rules[number])
            if new:  # they may have brought words
                numbers, texts = self._find(sentence, asked, before)
        entries = map(self._entries.__getitem__, sorted(numbers))
        found = ((each.rule, each.meant(*texts)) for each in entries)
        return [(rule, patterns) for rule, patterns in found if patterns]

    def _find(
        self, sentence: str, asked: str, before: str
    ) -> tuple[set[int], tuple[LookedAt, LookedAt, LookedAt]]:
        look = self._vocabulary.look
        texts = look(sentence), look(asked), look(before)
        numbers = self._said.find(texts[0])
        if asked:
            numbers |= self._answering.find(texts[1])
        if before:
            numbers |= self._going_on.find(texts[2])
        return numbers, texts

    def _entry(self, rule: Rule) -> _Entry:
        wanted = [self._wanted(each) for each in rule.patterns]
        patterns = [
            (each, words, digit) for each, (words, digit) in zip(rule.patterns, wanted, strict=True)
        ]
        every = [words for words, _ in wanted]
        words = None if None in every else frozenset[int]().union(*filter(None, every))
        needs, asked, about = (
            None if each is None else self._wanted(each)
            for each in (rule.needs, rule.asked, rule.about)
        )
        return _Entry(rule, words, patterns, needs, asked, about)

    def _wanted(self, pattern: Pattern) -> _Wanted:
        literals, digit = pattern.needs()
        return _Wanted(None if literals is None else self._vocabulary.numbers_of(literals), digit)
