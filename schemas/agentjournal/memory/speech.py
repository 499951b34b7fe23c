"""What a user says of itself: the rules of a language, tried on each sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agentjournal.events import Entity
from agentjournal.memory.candidates import Candidate, Refused, Statement
from agentjournal.memory.finding import MAX_BEFORE, Found, Heard, matches_of, values_in
from agentjournal.memory.judging import (
    FICTION,
    HYPOTHETICAL,
    NEGATED,
    TASK_ONLY,
    UNCERTAIN,
    objection,
)
from agentjournal.memory.rules import Rules
from agentjournal.memory.sentences import Sentence, own_sentences
from agentjournal.memory.slots import Slot, Slots
from agentjournal.memory.values import normal_form

NO_ENTITY = "of nobody in this session"
NO_VALUE = "not a value of its slot"
_INTERJECTION = 2  # words: "Yes." and "Home, then." come before an answer
_LEFT_TO_OTHERS = frozenset({HYPOTHETICAL, NEGATED, TASK_ONLY, UNCERTAIN})
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u00a0": " ", "\u202f": " "})
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
)


_CLAUSES = re.compile(r"(?<=[,;])\s+|\s+(?=but\b)", re.IGNORECASE)


@dataclass(slots=True)
class Listening:
    """What the statements of a session are read with, and what came of them."""

    entities: Mapping[str, Entity]
    slots: Slots
    rules: Rules
    candidates: list[Candidate] = field(default_factory=list[Candidate])
    refused: list[Refused] = field(default_factory=list[Refused])

    def hear(self, statement: Statement, heard: Heard) -> None:
        """Read what a user said, after what the assistant said."""
        text = statement.text.translate(_APOSTROPHES)
        fiction = self.rules.cues.fiction.search(text)
        for sentence in own_sentences(text, self.rules.splitting):
            is_fiction = fiction is not None and fiction.start() < sentence.start + len(
                sentence.text
            )
            self._read(statement, sentence, heard, is_fiction=is_fiction)
            is_short = len(sentence.text.split()) <= _INTERJECTION
            before = f"{heard.before}\n{sentence.text}"[-MAX_BEFORE:]
            heard = Heard(heard.asked if is_short else "", before)

    def _read(
        self, statement: Statement, sentence: Sentence, heard: Heard, *, is_fiction: bool
    ) -> None:
        quote = statement.text[sentence.start : sentence.start + len(sentence.text)]
        for read, retracts in _taken_back(sentence, self.rules):
            self._try(statement, read, quote, heard, is_fiction=is_fiction, retracts=retracts)
            heard = Heard("", heard.before)  # the first clause answers

    def _try(
        self,
        statement: Statement,
        read: Sentence,
        quote: str,
        heard: Heard,
        *,
        is_fiction: bool,
        retracts: bool,
    ) -> None:
        count = len(self.candidates)
        matches = list(matches_of(read, heard, self.rules, self._takes))
        if not matches and (whole := _completed(read, self.rules)) is not None:
            read = whole
            matches = list(matches_of(read, Heard(), self.rules, self._takes))
        for found in matches:
            reason = objection(found.rule, read, found.span, self.rules.cues)
            if is_fiction:
                reason = FICTION
            if reason is not None:
                self.refused.append(Refused(reason, quote, statement))
                continue
            self._keep(statement, found, quote, retracts=retracts)
        if retracts and len(self.candidates) == count:
            self._forget(statement, read, quote)

    def _takes(self, found: Found, read: Sentence) -> bool:
        """Return whether a find keeps its words from later rules: they may be said of another."""
        if not any(kind in self.entities for kind in found.rule.entities):
            return False
        reject, written = found.rule.reject, found.written
        if reject is not None and written is not None and reject.search(written.strip()):
            return False
        return objection(found.rule, read, found.span, self.rules.cues) not in _LEFT_TO_OTHERS

    def _keep(self, statement: Statement, found: Found, quote: str, *, retracts: bool) -> None:
        entity, slot = self._place(found)
        if entity is None:
            self.refused.append(Refused(NO_ENTITY, quote, statement))
            return
        for value in values_in(found, slot, self.rules, statement.at):
            if value == entity.id:
                continue  # it is heard as such, whatever it is called
            if value is None:
                self.refused.append(Refused(NO_VALUE, quote, statement))
                continue
            made = replace(
                _candidate(slot, entity, value, quote, statement),
                kind=found.rule.kind or slot.kind,
                attribute=found.attribute,
                confidence=found.rule.confidence,
                retracts=retracts,
            )
            if not self._is_said(made):
                self.candidates.append(made)

    def _place(self, found: Found) -> tuple[Entity | None, Slot]:
        """Return whom a fact is about, and its slot: the first entity that the session has."""
        for kind in found.rule.entities:
            if (entity := self.entities.get(kind)) is not None:
                slot = self.slots.find(kind, found.attribute)
                return entity, slot or _free(kind, found.attribute)
        return None, _free("user", found.attribute)

    def _is_said(self, made: Candidate) -> bool:
        """Return whether the same event says the same already."""
        for each in reversed(self.candidates):
            if each.statement.event_id != made.statement.event_id:
                return False
            same_slot = (each.entity, each.attribute) == (made.entity, made.attribute)
            if same_slot and normal_form(each.value) == normal_form(made.value):
                return True
        return False

    def _forget(self, statement: Statement, sentence: Sentence, quote: str) -> None:
        """Take back whole slots: "forget my phone number"."""
        user = self.entities.get("user")
        named = sentence.text.casefold()
        for slot in self.slots if user is not None else ():
            if slot.entity != "user" or "*" in slot.attribute:
                continue
            default = (slot.attribute.replace("_", " "),)
            words = "|".join(map(re.escape, self.rules.slot_words.get(slot.attribute, default)))
            if re.search(rf"\bmy (?:\w+ )?(?:{words})\b", named):
                made = _candidate(slot, user, None, quote, statement)  # type: ignore[arg-type]  # there is one
                self.candidates.append(replace(made, retracts=True))


def _candidate(
    slot: Slot, entity: Entity, value: Any, quote: str, statement: Statement
) -> Candidate:
    return Candidate(
        entity=entity,
        kind=slot.kind,
        attribute=slot.attribute,
        value=value,
        cardinality=slot.cardinality,
        quote=quote,
        statement=statement,
        confidence=0.9,
        valid_from=statement.at,
    )


def _free(kind: str, attribute: str) -> Slot:
    return Slot(kind, attribute, "text", "multiple", "text")  # type: ignore[arg-type]  # of an entity


def _completed(sentence: Sentence, rules: Rules) -> Sentence | None:
    """Return a sentence that begins with its verb with the subject that it means."""
    for cue, subject in ((rules.cues.dropped, "I "), (rules.cues.dropped_am, "I am ")):
        if found := cue.match(sentence.text):
            return Sentence(f"{subject}{sentence.text[found.end() :]}", sentence.start)
    return None


def _taken_back(sentence: Sentence, rules: Rules) -> Iterator[tuple[Sentence, bool]]:
    """Yield what a sentence says, without the words that take it back, and whether it had any."""
    text = sentence.text
    if found := rules.cues.retraction.match(text):
        yield Sentence(text[found.end() :], sentence.start), True
    elif not rules.cues.no_more.search(text):
        yield sentence, False
    else:
        for clause in filter(None, _CLAUSES.split(text)):
            said = clause
            if rules.cues.no_more.search(clause):
                for pattern, instead in _NO_LONGER:
                    said = pattern.sub(instead, said)
            yield Sentence(said, sentence.start), said != clause
