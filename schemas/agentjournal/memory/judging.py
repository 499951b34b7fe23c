"""Whether a sentence says what a rule reads in it: mood, polarity, speaker, and for how long."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from agentjournal.memory.rule import Rule
from agentjournal.memory.rules import Cues
from agentjournal.memory.sentences import Sentence

QUESTION = "a question"
HYPOTHETICAL = "hypothetical"
REPORTED = "said by somebody else"
NEGATED = "negated"
LEFT = "left for another"
UNCERTAIN = "uncertain"
TASK_ONLY = "for this task only"
FICTION = "made up"
CORRECTED = "corrected at once"

_COMMA = re.compile(r"[,;:()]|\s[-\u2013—]+\s|—")
_OF_MENTIONS = frozenset({"question", "hypothetical", "reported"})  # "Can my brother Tom come?"
_SHORT = 60  # characters: all of a sentence is about one thing
_CLAUSE_WORDS = 3  # as many words between commas are a clause


class Span(NamedTuple):
    """A stretch of a sentence."""

    start: int
    end: int


def is_meant(rule: Rule, sentence: Sentence) -> bool:
    """Return whether a rule speaks of such sentences at all."""
    return not (rule.needs and not rule.needs.search(sentence.text))


def is_ruled_out(rule: Rule, sentence: Sentence, match: Span) -> bool:
    """Return whether the clauses that a match stands in say what the rule does not speak of."""
    if rule.unless is None or not rule.unless.search(sentence.text):
        return False
    if len(sentence.text) <= _SHORT:
        return True
    around = _around(sentence.text, match, _COMMA)
    return rule.unless.search(sentence.text[around.start : around.end]) is not None


def objection(
    rule: Rule, sentence: Sentence, match: Span, cues: Cues, said: Span | None = None
) -> str | None:
    """Return why a match is no fact, in fixed words; None: it is one.

    `said` is where its value stands, if that is not all of it.
    """
    reason = _objection_to_all(rule, sentence, match, said or match, cues)
    if reason is not None:
        return reason
    is_stated = cues.copula.search(sentence.text, match.start, match.end) is not None
    for allowance, reason, speaks_against in _OBJECTIONS:
        is_allowed = allowance in rule.allow and not (is_stated and allowance in _OF_MENTIONS)
        if not is_allowed and speaks_against(sentence, match, cues):
            return reason
    wide = _around(sentence.text, match, cues.strong)
    text = sentence.text
    return _passing(rule, text[wide.start : wide.end], text[wide.start : match.end], cues)


def _objection_to_all(
    rule: Rule, sentence: Sentence, match: Span, value: Span, cues: Cues
) -> str | None:
    """Return what speaks against a match whatever its rule allows."""
    text = sentence.text
    against = (
        (LEFT, not _speaks_of_what_is_not(rule) and cues.instead.search(text, 0, value.start)),
        (NEGATED, not rule.retracts and cues.is_not.search(text, 0, value.start)),
        (HYPOTHETICAL, cues.perhaps.search(text, 0, match.start) or cues.supposed.match(text)),
        (UNCERTAIN, cues.doubted.match(text)),
        (NEGATED, cues.denied.match(text)),
        (QUESTION, cues.asked.match(text)),
        (REPORTED, cues.quotes.match(text) or cues.says.match(text, match.start, value.start)),
    )
    return next((reason for reason, found in against if found), None)


def _speaks_of_what_is_not(rule: Rule) -> bool:
    return rule.retracts or "negation" in rule.allow


def _is_hypothetical(sentence: Sentence, match: Span, cues: Cues) -> bool:
    return cues.hypothetical.search(sentence.text[: match.end]) is not None


def _is_modal(sentence: Sentence, match: Span, cues: Cues) -> bool:
    if cues.settled.search(sentence.text):
        return False
    return cues.modal.search(_clause_before(sentence.text, match, cues)) is not None


def _is_reported(sentence: Sentence, match: Span, cues: Cues) -> bool:
    said = cues.reported.search(sentence.text)  # whole: what doctors say "that I" am, I am
    if said is not None and said.end() <= match.start:
        return True
    return cues.reported_after.match(sentence.text[match.end :]) is not None


def _is_negated(sentence: Sentence, match: Span, cues: Cues) -> bool:
    return cues.negation.search(_clause_before(sentence.text, match, cues)) is not None


def _is_uncertain(sentence: Sentence, match: Span, cues: Cues) -> bool:
    start = _around(sentence.text, match, cues.clause).start
    end = _around(sentence.text, match, _COMMA).end
    return cues.uncertain.search(sentence.text[start:end]) is not None


def _is_corrected(sentence: Sentence, match: Span, cues: Cues) -> bool:
    return cues.corrected.match(sentence.text, match.end) is not None


def _passing(rule: Rule, clause: str, until: str, cues: Cues) -> str | None:
    """Return whether what is said holds only for what is being done now."""
    if not rule.durable:
        return None
    if "task" not in rule.allow and cues.task_only.search(clause):
        return TASK_ONLY
    if "request" in rule.allow or not cues.request.search(until):
        return None
    return None if cues.durable.search(clause) else TASK_ONLY


def _is_asked(sentence: Sentence, match: Span, cues: Cues) -> bool:
    if not sentence.is_question or _is_standing_request(sentence.text, match, cues):
        return False
    if tag := cues.tag.search(sentence.text):
        return not _is_between(sentence.text, match.end, tag.start())
    clause = _around(sentence.text, match, _COMMA)
    return clause.end >= len(sentence.text.rstrip()) or bool(
        cues.question.match(sentence.text[clause.start : clause.end])
    )


def _is_standing_request(text: str, match: Span, cues: Cues) -> bool:
    """Return whether it asks politely for what is to hold, or to change what is known."""
    if not cues.polite.match(text[: match.end]):
        return False
    return bool(cues.durable.search(text) or cues.amends.search(text, 0, match.end))


def _is_between(text: str, start: int, end: int) -> bool:
    """Return whether a whole clause stands there: a tag asks for the clause before it."""
    found = _COMMA.search(text, start, end)
    return found is not None and len(text[found.end() : end].split()) >= _CLAUSE_WORDS


def _around(text: str, match: Span, separator: re.Pattern[str]) -> Span:
    """Return the clause that a match stands in."""
    start = 0
    for found in separator.finditer(text, 0, match.start):
        start = found.end()
    after = separator.search(text, match.end)
    return Span(start, after.start() if after else len(text))


def _clause_before(text: str, match: Span, cues: Cues) -> str:
    return text[_around(text, match, cues.clause).start : match.start]


_OBJECTIONS: tuple[tuple[str, str, Callable[[Sentence, Span, Cues], bool]], ...] = (
    ("question", QUESTION, _is_asked),
    ("hypothetical", HYPOTHETICAL, _is_hypothetical),
    ("modal", HYPOTHETICAL, _is_modal),
    ("reported", REPORTED, _is_reported),
    ("negation", NEGATED, _is_negated),
    ("uncertain", UNCERTAIN, _is_uncertain),
    ("corrected", CORRECTED, _is_corrected),
)
