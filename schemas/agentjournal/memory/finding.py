"""What the rules find in a sentence, and the values that it has for their slots."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agentjournal.memory.candidates import Statement
from agentjournal.memory.judging import Span, is_meant, is_ruled_out
from agentjournal.memory.rule import Pattern, Rule
from agentjournal.memory.rules import Rules
from agentjournal.memory.sentences import Sentence
from agentjournal.memory.slots import Slot
from agentjournal.memory.values import value_of

MAX_BEFORE = 400  # characters of what was said before a sentence that are kept
_NOT_IN_NAMES = re.compile(r"\W+")
_SPELLINGS = (("favorite", "favourite"), ("color", "colour"), ("flavor", "flavour"))


class Found(NamedTuple):
    """What a rule makes of a sentence: the value as it is written, for a slot.

    `said` is where the value stands, or without one all that was matched.
    """

    rule: Rule
    attribute: str
    written: str | None
    span: Span
    said: Span
    groups: Mapping[str, str]


class Heard(NamedTuple):
    """What was said before a sentence: the assistant's questions, and the last words of both.

    `by` is what the questions stand in.
    """

    asked: str = ""
    before: str = ""
    by: Statement | None = None


def matches_of(
    sentence: Sentence, heard: Heard, rules: Rules, takes: Callable[[Found, Sentence], bool]
) -> Iterator[Found]:
    """Yield what the rules find; of two for the same words the first rule's."""
    claimed: list[Span] = []
    for rule, patterns in rules.meant(sentence.text, heard.asked, heard.before):
        if not is_meant(rule, sentence):
            continue
        own: list[Span] = []  # what one pattern of a rule is refused, no other of it reads
        is_shared = "shared" in rule.allow
        others = () if is_shared and rule.retracts else claimed  # "single" ends more than it says
        for found in _found_by(rule, patterns, sentence, heard):
            if any(_overlap(found.said, taken) for taken in (*others, *own)):
                continue
            own.append(found.said)
            if not is_shared and takes(found, sentence):
                claimed.append(found.said)
            yield found


def _found_by(
    rule: Rule, patterns: Sequence[Pattern], sentence: Sentence, heard: Heard
) -> Iterator[Found]:
    """Yield what patterns of a rule find; what it answers is looked for once one of them does."""
    topic: re.Match[str] | None = None
    needs_topic = rule.asked is not None or rule.about is not None
    may_be_out: bool | None = None  # looked for once, where something is found
    for pattern in patterns:
        for match in pattern.finditer(sentence.text):
            if may_be_out is None:
                may_be_out = rule.unless is not None and bool(rule.unless.search(sentence.text))
            if may_be_out and is_ruled_out(rule, sentence, Span(*match.span())):
                continue
            if needs_topic and topic is None:
                topic = _topic(rule, heard)
                if topic is None:
                    return
            yield _found(rule, match, topic)


def _topic(rule: Rule, heard: Heard) -> re.Match[str] | None:
    """Return what was asked for that the rule answers, or what it goes on about: the latest."""
    if rule.asked is not None:
        return rule.asked.search(heard.asked) if heard.asked else None
    if rule.about is None or not heard.before:
        return None
    return next(reversed(list(rule.about.finditer(heard.before))), None)


def _found(rule: Rule, match: re.Match[str], topic: re.Match[str] | None) -> Found:
    given = {**(topic.groupdict() if topic else {}), **match.groupdict()}
    groups = {name: text for name, text in given.items() if text is not None}
    attribute = rule.attribute
    for name, text in groups.items():
        known = rule.attribute_of(text) or _attribute_name(text)
        attribute = attribute.replace("{" + name + "}", known)
    written, span = groups.get("value"), Span(*match.span())
    said = span if written is None else Span(*match.span("value"))
    return Found(rule, attribute, written, span, said, groups)


def _attribute_name(text: str) -> str:
    name = _NOT_IN_NAMES.sub("_", text.casefold()).strip("_")
    for ours, theirs in _SPELLINGS:
        name = name.replace(ours, theirs)
    return name


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def values_in(found: Found, slot: Slot, rules: Rules, at: str) -> Iterable[Any]:
    """Yield the values of a match; None for words that are none."""
    if given := found.rule.value:
        for each in [given] if isinstance(given, str) else given:
            yield each.format_map(found.groups)
        return
    if found.written is None:
        return
    pieces = [found.written]
    if found.rule.split:
        pieces = _pieces(found.written, rules)
    for piece in pieces:
        text = _trimmed(piece, rules)
        reject = found.rule.reject
        if rules.cues.no_value.fullmatch(text) or (
            reject and (reject.search(text) or reject.search(piece.strip()))
        ):
            yield None
        else:
            yield value_of(slot, text, at)


def _pieces(written: str, rules: Rules) -> list[str]:
    pieces: list[str] = []
    for piece in rules.cues.and_.split(written):
        if pieces and rules.cues.no_item.match(piece.strip()):
            break
        if piece.strip():
            pieces.append(piece)
    return pieces


def _trimmed(piece: str, rules: Rules) -> str:
    text = piece.strip(" \t,;:.")
    text = rules.cues.behind.sub("", text)
    return rules.cues.before.sub("", text).strip()
