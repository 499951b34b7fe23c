"""What is kept of a model's proposals: what the words of a user say, read as a rule would.

Pure. A model only points: at a message, at words of it, and at a slot. The value is made of the
words, the sentence that they stand in is judged like one that a rule has found, and what the rules
made of the same message stands.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from agentjournal.events import Entity
from agentjournal.memory.candidates import Candidate, Refused, Statement
from agentjournal.memory.judging import FICTION, NEGATED, Span, objection
from agentjournal.memory.model_asking import ADD, FORGET, is_offered
from agentjournal.memory.rule import Rule, rule_of
from agentjournal.memory.rules import Rules
from agentjournal.memory.sentences import Sentence, own_sentences
from agentjournal.memory.slots import Slot, Slots
from agentjournal.memory.speech import NO_ENTITY, NO_VALUE
from agentjournal.memory.values import normal_form, value_of

MAX_FACTS = 50  # of one answer
NO_FORM = "model: not of the form asked for"
NO_EVENT = "model: no message that it may cite"
NO_QUOTE = "no quote"
NO_SLOT = "model: no such slot"
NOT_OWN = "model: not the user's own words"
NOT_TAKEN_BACK = "model: nothing is taken back"
SAID_ALREADY = "model: the rules read it otherwise"
TOO_MANY = "model: too many facts"

_CONFIDENCE = 0.7  # of what no rule has found
_MOST_VALUE = 300  # characters
_MOST_PLACES = 200  # at which the same words are looked at
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u00a0": " ", "\u202f": " "})
_PART = re.compile(r"\{\w+\}")  # of a rule's attribute: `favourite_{what}`
_NAME = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")
_MOST_NAME = 60  # characters
_NEGATIVE = frozenset({"avoids", "dislikes"})  # what they hold is what somebody does not do
# What a slot's rules allow a sentence. Whether it is a question, and who speaks, no slot can tell.
_LENDABLE = frozenset({"modal", "request"})
_DURABLE = frozenset({"preference", "constraint"})


class Proposal(NamedTuple):
    """A fact as a model proposes it; `message` is a version."""

    message: int
    about: str
    attribute: str
    op: str
    quote: str
    value: str


class _No(NamedTuple):
    """Why a proposal is no fact."""

    reason: str


class _Place(NamedTuple):
    """The sentence that says a value, and where in it."""

    sentence: Sentence
    span: Span


@dataclass(slots=True)
class Judging:
    """What the proposals for a session are judged with, and what came of them."""

    about: Mapping[str, Entity]
    slots: Slots
    rules: Rules
    known: Sequence[Candidate]  # what the rules have found
    candidates: list[Candidate] = field(default_factory=list[Candidate])
    refused: list[Refused] = field(default_factory=list[Refused])
    _sentences: dict[str, list[Sentence]] = field(default_factory=dict[str, list[Sentence]])

    def take(
        self, proposals: Sequence[object], citable: Mapping[int, Statement], first: Statement
    ) -> None:
        """Keep what may be kept of an answer; of the rest note why not, at least of `first`."""
        for each in proposals[:MAX_FACTS]:
            proposal = _proposal(each)
            if proposal is None:
                self.refused.append(Refused(NO_FORM, "", first))
                continue
            said = citable.get(proposal.message)
            if said is None:
                self.refused.append(Refused(NO_EVENT, "", first))
                continue
            self._judge(proposal, said)
        self.refused += [Refused(TOO_MANY, "", first) for _ in proposals[MAX_FACTS:]]

    def _judge(self, proposal: Proposal, said: Statement) -> None:
        made = self._made(proposal, said)
        if isinstance(made, _No):
            quote = proposal.quote if proposal.quote in said.text else ""
            self.refused.append(Refused(made.reason, quote, said))
        elif made is not None:
            self.candidates.append(made)

    def _made(self, proposal: Proposal, said: Statement) -> Candidate | _No | None:
        """Return what is proposed as a candidate, why it is none, or None: it is known."""
        slot = self._slot(proposal)
        if isinstance(slot, _No):
            return slot
        place = self._place(said, proposal)
        if isinstance(place, _No):
            return place
        reason = _against(proposal, slot, said, place, self.rules)
        value = _value_of(slot, proposal.value, said, self.rules)
        if reason is not None or value is None:
            return _No(reason or NO_VALUE)
        sentence = place.sentence
        made = Candidate(
            entity=self.about[proposal.about],
            kind=slot.kind,
            attribute=proposal.attribute,
            value=value,
            cardinality=slot.cardinality,
            quote=said.text[sentence.start : sentence.start + len(sentence.text)],
            statement=said,
            confidence=_CONFIDENCE,
            valid_from=said.at,
            retracts=proposal.op == FORGET,
        )
        return self._beside(made)

    def _place(self, said: Statement, proposal: Proposal) -> _Place | _No:
        """Return the sentence in which a user says the value."""
        if not proposal.quote.strip() or proposal.quote not in said.text:
            return _No(NO_QUOTE)
        text = said.text.translate(_APOSTROPHES)
        if said.text not in self._sentences:  # kept for the proposals that come behind
            self._sentences = {said.text: list(own_sentences(text, self.rules.splitting))}
        sentences = self._sentences[said.text]
        quote, written = (each.translate(_APOSTROPHES) for each in (proposal.quote, proposal.value))
        if written.strip():
            for start in islice(_places(text, quote, written), _MOST_PLACES):
                if (found := _in(sentences, start, written)) is not None:
                    return found
        return _No(NOT_OWN)

    def _slot(self, proposal: Proposal) -> Slot | _No:
        if proposal.about not in self.about:
            return _No(NO_ENTITY)
        name = proposal.attribute
        if len(name) > _MOST_NAME or not _NAME.fullmatch(name):
            return _No(NO_SLOT)
        slot = self.slots.find(proposal.about, name)
        return slot if slot is not None and is_offered(slot) else _No(NO_SLOT)

    def _beside(self, made: Candidate) -> Candidate | _No | None:
        """Return a candidate unless the same message says the same, or the rules read it otherwise.

        What another message says again is evidence of its own, and stays.
        """
        if normal_form(made.value) == normal_form(made.entity.id):
            return None  # the session says so anyway, whatever it is called
        for each in (*self.known, *self.candidates):
            if each.statement.event_id != made.statement.event_id:
                continue
            if (each.entity, each.attribute) != (made.entity, made.attribute):
                continue
            one, other = normal_form(each.value), normal_form(made.value)
            if one == other:
                return None
            is_part = one in other or other in one
            if made.cardinality == "single" or each.retracts != made.retracts or is_part:
                return _No(SAID_ALREADY)
        return made


def _proposal(given: object) -> Proposal | None:
    if not isinstance(given, dict):
        return None
    message, *others = (given.get(name) for name in Proposal._fields)
    texts = [each for each in others if isinstance(each, str)]
    if isinstance(message, bool) or not isinstance(message, int) or len(texts) < len(others):
        return None
    proposal = Proposal(message, *texts)
    return proposal if proposal.op in {ADD, FORGET} else None


def _places(text: str, quote: str, written: str) -> Iterator[int]:
    """Yield where a value stands in a quote, wherever that stands in a text."""
    for begin in _found(text, quote):
        for start in _found(quote, written):
            yield begin + start


def _found(text: str, part: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def _in(sentences: Sequence[Sentence], start: int, written: str) -> _Place | None:
    """Return a value's place in its sentence; None: it is hidden, or a part of a word."""
    last = bisect_right(sentences, start, key=lambda each: each.start) - 1
    if last < 0:
        return None
    sentence = sentences[last]
    at = start - sentence.start
    end = at + len(written)
    if sentence.text[at:end] != written:
        return None
    edges = ((sentence.text[at - 1 : at], written[0]), (written[-1], sentence.text[end : end + 1]))
    if any(_is_of_word(one) and _is_of_word(other) for one, other in edges):
        return None
    return _Place(sentence, Span(at, end))


def _is_of_word(sign: str) -> bool:
    """Whether a sign goes on as a word: not so in scripts that write no spaces."""
    return sign.isdigit() or sign.lower() != sign.upper()


def _against(
    proposal: Proposal, slot: Slot, said: Statement, place: _Place, rules: Rules
) -> str | None:
    """Return why a sentence is no fact, as it would be for a rule; None: it is one."""
    cues, sentence = rules.cues, place.sentence
    fiction = cues.fiction.search(said.text.translate(_APOSTROPHES))
    if fiction is not None and fiction.start() < sentence.start + len(sentence.text):
        return FICTION
    takes_back = cues.retraction.match(sentence.text) or cues.no_more.search(sentence.text)
    if proposal.op == FORGET:
        return None if takes_back and not sentence.is_question else NOT_TAKEN_BACK
    if takes_back:
        return NEGATED
    return objection(_rule(rules, slot, proposal.attribute), sentence, place.span, cues)


def _rule(rules: Rules, slot: Slot, attribute: str) -> Rule:
    """Return the rule that stands for a slot: it allows a sentence what the slot's own rules do."""
    own = [each.allow for each in rules.rules if _PART.sub("*", each.attribute) == slot.attribute]
    allow = frozenset[str]().union(*own) & _LENDABLE
    if attribute in _NEGATIVE:
        allow |= {"negation"}
    given = {"name": f"model: {attribute}", "attribute": attribute, "patterns": []}
    more = {"durable": slot.kind in _DURABLE, "allow": sorted(allow)}
    return rule_of("model", {**given, **more})


def _value_of(slot: Slot, written: str, said: Statement, rules: Rules) -> Any:
    cues = rules.cues
    text = written.translate(_APOSTROPHES).strip(" \t,;:.")
    text = cues.before.sub("", cues.behind.sub("", text)).strip()
    if not text or len(text) > _MOST_VALUE or cues.no_value.fullmatch(text):
        return None
    return value_of(slot, text, said.at)
