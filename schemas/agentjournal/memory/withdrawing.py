"""What a user takes back: which clauses do, of what, and what a no to "still …?" says.

Pure text in, text out: rules read what is left as if it were said, and retract what they find.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from agentjournal.memory.rules import Rules
from agentjournal.memory.sentences import Sentence

_NO_LONGER = (
    (re.compile(r"\bno longer\s+", re.IGNORECASE), ""),
    (re.compile(r"\b(?:do not|don't)\s+(?=.*\bany ?(?:more|longer)\b)", re.IGNORECASE), ""),
    (
        re.compile(r"\b(am|'m|is|'s|are|'re) not\s+(?=.*\bany ?(?:more|longer)\b)", re.IGNORECASE),
        r"\1 ",
    ),
    (re.compile(r"\b(is|are)n't\s+(?=.*\bany ?(?:more|longer)\b)", re.IGNORECASE), r"\1 "),
    (re.compile(r"\bused to be\b", re.IGNORECASE), "am"),
    (re.compile(r"\bused to\s+", re.IGNORECASE), ""),
    (re.compile(r"\s*\bany ?(?:more|longer)\b", re.IGNORECASE), ""),
    (re.compile(r"\s+no more\b(?=\s*(?:[.,;!]|$))", re.IGNORECASE), ""),
)
# What may or will not be any more is not so from now on, and nothing is taken back.
_FORBIDDEN = re.compile(
    r"\b(?:may|must|shall|should|will) not"
    r" (?:drive|fly|eat|drink|smoke|swim|cycle|travel|climb|lift)\b",
    re.IGNORECASE,
)
_CLAUSES = re.compile(r"(?<=[,;])\s+|\s+(?=but\b)", re.IGNORECASE)
_WITHDRAWING = re.compile(
    r"(?<=[,;:])\s+|\s+[-\u2013—]+\s+|(?<=[^,;:])\s+(?=(?:but|so|and) (?:i|we|you|it|please|he|she"
    r"|they|there|that's|can|could|just|kindly)\b)",
    re.IGNORECASE,
)
_ONE_MORE = re.compile(
    r"\W*(?:and |or )?(?:that (?:i|we|my|our)\b|(?:my|our) [\w' -]{2,25}\W*$)", re.IGNORECASE
)
# Of what stands before it in the sentence.
_THAT = re.compile(
    r"\W*(?:(?:so|and|but|please|you can|you may|just|kindly|can you|could you|now|well)\W+){0,4}"
    r"(?:(?:forget|scrap|drop|delete|ignore|scratch|cancel|strike|remove|erase|disregard)"
    r" (?:it|that|this|them|those)\b(?: one)?(?: (?:from|off|please|now|altogether)\b|\W*$)"
    r"|(?:take|cross|strike) (?:it|that|this|them|those) (?:off|out)\b)",
    re.IGNORECASE,
)
# A question whether something still is so, as the statement that it is.
_STILL = (
    (
        re.compile(r"\b(?:are you|you're|you are) still (?P<rest>[^?\n]+)", re.IGNORECASE),
        "I'm {rest}",
    ),
    (
        re.compile(r"\b(?:do you still|you still|and still) (?P<rest>[^?\n]+)", re.IGNORECASE),
        "I {rest}",
    ),
    (
        re.compile(
            r"\b(?:is|are|was) (?P<who>[^?\n]{2,40}?) still (?P<rest>your [^?\n]+)", re.IGNORECASE
        ),
        "{who} is {rest}",
    ),
    (
        re.compile(
            r"\b(?:is|are) (?P<rest>your [^?\n]{2,60}?) still (?P<who>[^?\n]+)", re.IGNORECASE
        ),
        "{rest} is {who}",
    ),
)
_BETWEEN = " \t,;:-\u2013—"
_TAG = re.compile(r",? (?:i (?:take it|assume|suppose|guess)|right|yes|correct)\W*$", re.IGNORECASE)
_NOT_SO = re.compile(
    r"\W*(?:no\b(?! (?:worries|problem|need|idea|change))|nope\b|nah\b|not (?:any ?more|any longer"
    r"|since|now|these days|at all)\b|none\b|gone\b|long gone\b|sold\b|never\b|over\b|finished\b"
    r"|ended\b|(?:i|we)(?:'ve| have)? (?:stopped|quit|sold|gave|given|left)\b"
    r"|(?:it|that|he|she)(?:'s| is) (?:over|gone|history|finished|dead)\b)",
    re.IGNORECASE,
)


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
    bounds = [0, *(found.end() for found in _WITHDRAWING.finditer(text)), len(text)]
    kept, withdraws = 0, False
    for begin, end in pairwise(bounds):
        clause = text[begin:end]
        if begin > kept and _THAT.match(clause):
            yield text[kept:begin].strip(_BETWEEN), True
            kept, withdraws = end, False
            continue
        found = rules.cues.retraction.match(clause)
        withdraws = found is not None or (withdraws and _ONE_MORE.match(clause) is not None)
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
    text, cues = sentence.text, rules.cues
    if not cues.no_more.search(text) or any(
        cue.match(text) for cue in (cues.denied, cues.supposed, cues.asked, cues.quotes)
    ):
        yield sentence, False  # what is said of all of it holds for each of its clauses
        return
    for clause in filter(None, _CLAUSES.split(text)):
        said = clause
        if cues.no_more.search(clause) and not _FORBIDDEN.search(clause):
            for pattern, instead in _NO_LONGER:
                said = pattern.sub(instead, said)
        yield Sentence(said, sentence.start), said != clause


def no_longer(answer: str, asked: str) -> Iterator[tuple[str, str]]:
    """Yield what an answer denies that was asked for with "still", and the question."""
    if _NOT_SO.match(answer) is None:
        return
    for question in asked.split("\n"):
        if (so := _still_so(question)) is not None:
            yield so, question


def _still_so(asked: str) -> str | None:
    """Return what is so if a question whether it still is gets a yes."""
    for pattern, form in _STILL:
        if found := pattern.search(asked):
            parts = {name: _TAG.sub("", text) for name, text in found.groupdict().items()}
            return of_the_speaker(form.format_map(parts))
    return None


def of_the_speaker(text: str) -> str:
    """Return what is said of "you" as that one would say it."""
    for theirs, own in (("your", "my"), ("yours", "mine"), ("you", "I")):
        text = re.sub(rf"\b{theirs}\b", own, text, flags=re.IGNORECASE)
    return text
