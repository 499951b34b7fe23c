"""What a user says of itself: the rules of a language, tried on each sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentjournal.events import Entity
from agentjournal.memory import dictation
from agentjournal.memory.candidates import Candidate, Refused, Statement
from agentjournal.memory.confirming import confirmed
from agentjournal.memory.finding import MAX_BEFORE, Found, Heard, matches_of, values_in
from agentjournal.memory.judging import (
    FICTION,
    HYPOTHETICAL,
    LEFT,
    NEGATED,
    REPORTED,
    TASK_ONLY,
    UNCERTAIN,
    objection,
)
from agentjournal.memory.rules import Rules
from agentjournal.memory.sentences import Sentence, own_sentences
from agentjournal.memory.slots import Slot, Slots
from agentjournal.memory.spelling import written_out
from agentjournal.memory.values import normal_form
from agentjournal.memory.whose import called, whose
from agentjournal.memory.withdrawing import is_told_to_forget, no_longer, taken_back

NO_ENTITY = "of nobody in this session"
NO_VALUE = "not a value of its slot"
_INTERJECTION = 2  # words: "Yes." and "Home, then." come before an answer
_LEFT_TO_OTHERS = frozenset({HYPOTHETICAL, LEFT, NEGATED, TASK_ONLY, UNCERTAIN})
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u00a0": " ", "\u202f": " "})


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
            if heard.asked:
                self._deny(statement, sentence, heard)
                self._confirm(statement, sentence, heard)
            is_short = len(sentence.text.split()) <= _INTERJECTION
            before = f"{heard.before}\n{sentence.text}"[-MAX_BEFORE:]
            heard = Heard(heard.asked if is_short else "", before, heard.by)

    def _read(
        self, statement: Statement, sentence: Sentence, heard: Heard, *, is_fiction: bool
    ) -> None:
        quote = statement.text[sentence.start : sentence.start + len(sentence.text)]
        written = Sentence(self._written(sentence.text), sentence.start)
        before = len(self.candidates)
        for read, retracts in taken_back(written, self.rules):
            count = len(self.candidates)
            self._try(statement, read, quote, heard, is_fiction=is_fiction, retracts=retracts)
            if retracts and len(self.candidates) == count and not is_fiction:
                self._withdraw(statement, written, quote)
            if (
                retracts
                and len(self.candidates) == count
                and is_told_to_forget(written, self.rules)
            ):
                self._forget(statement, read, quote)
            before_it = f"{heard.before}\n{read.text}"[-MAX_BEFORE:]
            heard = Heard("", before_it)  # the first clause answers
        self.candidates[before:] = _without_replaced(self.candidates[before:])

    def _written(self, text: str) -> str:
        """Return a sentence as it would be written with care."""
        talk = self.rules.talk
        text = written_out(text, talk)
        return dictation.written(text) if talk.dictation == dictation.NAME else text

    def _deny(self, statement: Statement, sentence: Sentence, heard: Heard) -> None:
        """Take back what was asked for with "still", and is answered with no."""
        quote = statement.text[sentence.start : sentence.start + len(sentence.text)]
        for so, asked in no_longer(sentence.text, heard.asked, self.rules.talk):
            read = Sentence(so, sentence.start)
            self._try(statement, read, quote, Heard("", asked), is_fiction=False, retracts=True)

    def _confirm(self, statement: Statement, sentence: Sentence, heard: Heard) -> None:
        """Read what was asked, and is answered with yes, as if the user had said so."""
        quote = statement.text[sentence.start : sentence.start + len(sentence.text)]
        before, question = len(self.candidates), () if heard.by is None else (heard.by,)
        for so in confirmed(sentence.text, heard.asked, self.rules.talk):
            read = Sentence(so, sentence.start)
            self._try(statement, read, quote, Heard(), is_fiction=False, retracts=False)
        for at in range(before, len(self.candidates)):
            self.candidates[at] = replace(self.candidates[at], others=question)

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
        matches = list(matches_of(read, heard, self.rules, self._takes))
        if not matches and (whole := _completed(read, self.rules)) is not None:
            read = whole
            matches = list(matches_of(read, Heard(), self.rules, self._takes))
        for found in matches:
            reason = objection(found.rule, read, found.span, self.rules.cues, found.said)
            if is_fiction:
                reason = FICTION
            if reason is None and self._is_of_another(found, read, heard):
                reason = REPORTED
            if reason is not None:
                self.refused.append(Refused(reason, quote, statement))
                continue
            told = (read.text, heard.asked, heard.before)
            self._keep(statement, found, quote, told, retracts=retracts or found.rule.retracts)

    def _is_of_another(self, found: Found, read: Sentence, heard: Heard) -> bool:
        """Return whether it is what was asked of somebody else: "And the guest's birthday?"."""
        cues, question = self.rules.cues, heard.asked.rpartition("\n")[2]
        if not question or not cues.asked_of_another.search(question):
            return False
        slot = self.slots.find("user", found.attribute)
        is_own = slot is not None and slot.kind in {"identifier", "profile"}
        return is_own and cues.of_oneself.search(read.text) is None

    def _withdraw(self, statement: Statement, sentence: Sentence, quote: str) -> None:
        """Read a sentence with the words that take something back: by the rules of those alone."""
        for found in matches_of(sentence, Heard(), self.rules, self._takes):
            if not found.rule.retracts:
                continue
            if objection(found.rule, sentence, found.span, self.rules.cues) is None:
                self._keep(statement, found, quote, (sentence.text,), retracts=True)

    def _takes(self, found: Found, read: Sentence) -> bool:
        """Return whether a find keeps its words from later rules: they may be said of another."""
        if not any(kind in self.entities for kind in found.rule.entities):
            return False
        reject, written = found.rule.reject, found.written
        if reject is not None and written is not None and reject.search(written.strip()):
            return False
        reason = objection(found.rule, read, found.span, self.rules.cues, found.said)
        return reason not in _LEFT_TO_OTHERS

    def _keep(
        self,
        statement: Statement,
        found: Found,
        quote: str,
        told: Sequence[str],
        *,
        retracts: bool,
    ) -> None:
        places = self._places(found, told, retracts=retracts)
        if not places:
            self.refused.append(Refused(NO_ENTITY, quote, statement))
        for entity, slot in places:
            made = replace(
                _candidate(slot, entity, None, quote, statement),
                kind=found.rule.kind or slot.kind,
                attribute=found.attribute,
                confidence=found.rule.confidence,
                retracts=retracts,
            )
            if found.rule.retracts and found.written is None and not found.rule.value:
                self._add(made)  # every value of the slot is taken back
                continue
            for value in values_in(found, slot, self.rules, statement.at):
                if value is None:
                    self.refused.append(Refused(NO_VALUE, quote, statement))
                elif value != entity.id:  # which is heard as such, whatever it is called
                    self._add(replace(made, value=value))

    def _places(
        self, found: Found, told: Sequence[str], *, retracts: bool
    ) -> list[tuple[Entity, Slot]]:
        """Return whom a fact is about, and its slot; of several it is whom the words are of."""
        kinds = [kind for kind in found.rule.entities if kind in self.entities]
        if len(kinds) > 1:
            kinds = whose(kinds, told, self.rules, retracts=retracts)
        return [
            (
                self.entities[kind],
                self.slots.find(kind, found.attribute) or _free(kind, found.attribute),
            )
            for kind in kinds
        ]

    def _add(self, made: Candidate) -> None:
        """Keep what the same event has not said already."""
        for each in reversed(self.candidates):
            if each.statement.event_id != made.statement.event_id:
                break
            same_slot = (each.entity, each.attribute) == (made.entity, made.attribute)
            if same_slot and normal_form(each.value) == normal_form(made.value):
                return
        self.candidates.append(made)

    def _forget(self, statement: Statement, sentence: Sentence, quote: str) -> None:
        """Take back whole slots: "forget my phone number"."""
        named = sentence.text.casefold()
        if self.rules.talk.of_a_task.search(named):
            return
        for slot in self.slots:
            entity = self.entities.get(slot.entity)
            if entity is None or "*" in slot.attribute:
                continue
            if re.search(called(slot, self.rules), named, re.IGNORECASE):
                made = _candidate(slot, entity, None, quote, statement)
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


def _without_replaced(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates of a sentence: a new value says already that the old one is none."""
    new = {
        (each.entity.kind, each.attribute)
        for each in candidates
        if not each.retracts and each.cardinality == "single"
    }
    return [
        each
        for each in candidates
        if not each.retracts or (each.entity.kind, each.attribute) not in new
    ]
