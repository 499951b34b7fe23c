"""What a user takes back: which clauses do, of what, and what a no to "still …?" says.

Pure text in, text out: rules read what is left as if it were said, and retract what they find.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from agentjournal.memory.rules import Rules
from agentjournal.memory.sentences import Sentence
from agentjournal.memory.talk import Talk

_BETWEEN = " \t,;:-\u2013—"


def taken_back(sentence: Sentence, rules: Rules) -> Iterator[tuple[Sentence, bool]]:
    """Yield what a sentence says, without the words that take it back, and whether it had any."""
    for text, withdraws in _parts(sentence.text, rules):
        read = Sentence(text, sentence.start)
        if withdraws:
            yield read, True
        else:
            yield from _no_more(read, rules)


def _parts(text: str, rules: Rules) -> Iterator[tuple[str, bool]]:
    """Yield the clauses that take something back, without the words that do, and all between."""
    bounds = [0, *(found.end() for found in rules.talk.parts.finditer(text)), len(text)]
    kept, withdraws = 0, False
    for begin, end in pairwise(bounds):
        clause = text[begin:end]
        if begin > kept and rules.talk.that_before.match(clause):
            yield text[kept:begin].strip(_BETWEEN), True
            kept, withdraws = end, False
            continue
        found = rules.cues.retraction.match(clause)
        goes_on = withdraws and rules.talk.one_more.match(clause) is not None
        withdraws = found is not None or goes_on
        if not withdraws:
            continue
        if before := text[kept:begin].strip(_BETWEEN):
            yield before, False
        yield (clause[found.end() :] if found else clause).rstrip(_BETWEEN), True
        kept = end
    if rest := text[kept:] if kept == 0 else text[kept:].strip():
        yield rest, False


def is_told_to_forget(sentence: Sentence, rules: Rules) -> bool:
    """Return whether a sentence asks to forget something, or says that something is so no more."""
    if rules.cues.void.search(sentence.text):
        return True
    return any(withdraws for _, withdraws in _parts(sentence.text, rules))


def _no_more(sentence: Sentence, rules: Rules) -> Iterator[tuple[Sentence, bool]]:
    text, cues, talk = sentence.text, rules.cues, rules.talk
    if not cues.no_more.search(text) or any(
        cue.match(text)
        for cue in (cues.denied, cues.supposed, cues.doubted, cues.asked, cues.quotes)
    ):
        yield sentence, False  # what is said of all of it holds for each of its clauses
        return
    for clause in filter(None, talk.clauses.split(text)):
        said = clause
        if cues.no_more.search(clause) and not talk.forbidden.search(clause):
            for pattern, instead in talk.no_longer:
                said = pattern.sub(instead, said)
        yield Sentence(said, sentence.start), said != clause


def no_longer(answer: str, asked: str, talk: Talk) -> Iterator[tuple[str, str]]:
    """Yield what an answer denies that was asked for with "still", and the question."""
    if talk.not_so.match(answer) is None:
        return
    for question in asked.split("\n"):
        if (so := _still_so(question, talk)) is not None:
            yield so, question


def _still_so(asked: str, talk: Talk) -> str | None:
    """Return what is so if a question whether it still is gets a yes."""
    for pattern, form in talk.still:
        if found := pattern.search(asked):
            parts = {name: talk.still_tag.sub("", text) for name, text in found.groupdict().items()}
            return of_the_speaker(form.format_map(parts), talk)
    return None


def of_the_speaker(text: str, talk: Talk) -> str:
    """Return what is said of "you" as that one would say it."""
    for theirs, own in talk.speaker:
        text = theirs.sub(own, text)
    return text
