"""Which promoted fact is which labelled one: one to one, and as many pairs as can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evals.labelled import Gold
from evals.normal import normal, token_f1, tokens

SENTENCES = frozenset({"free_text", "decision", "rule"})  # attributes that hold a whole sentence
LONG = 4  # words: a value of as many is free text too
ENOUGH = 0.6  # of the words of a free text


@dataclass(frozen=True, slots=True)
class Learned:
    """A fact that was promoted, as the projection shows it when all sessions are read.

    `active`: it is among the current facts. A closed one has `valid_to`; a hidden one was
    retracted, and is shown for no time at all.
    """

    entity: str
    kind: str
    attribute: str
    value: Any
    quote: str
    evidence: tuple[str, ...]
    valid_from: str
    valid_to: str | None = None
    active: bool = True
    hidden: bool = False
    cardinality: Literal["single", "multiple"] = "single"


def same_slot(gold: Gold, learned: Learned) -> bool:
    """Whether both speak of one attribute of one entity.

    What is a sentence has no slot to speak of, so those attributes stand for each other; a label
    with a star says that any attribute will do.
    """
    if learned.entity not in (gold.entity, *gold.also):
        return False
    named, other = _name(gold.attribute), _name(learned.attribute)
    return named in ("*", other) or {named, other} <= SENTENCES


def same_value(gold: Gold, value: Any) -> bool:
    """Whether the value is the labelled one, or one of those that are as good."""
    accepted = (gold.value, *gold.accept)
    if normal(value) in {normal(each) for each in accepted}:
        return True
    return _is_free(gold) and any(token_f1(each, value) >= ENOUGH for each in accepted)


def same(gold: Gold, learned: Learned) -> bool:
    """Whether the promoted fact is the labelled one; free text has to share its evidence too."""
    if not (same_slot(gold, learned) and same_value(gold, learned.value)):
        return False
    return not _is_free(gold) or not set(gold.evidence).isdisjoint(learned.evidence)


def matched(golds: Sequence[Gold], learned: Sequence[Learned]) -> dict[int, int]:
    """Return the largest one-to-one matching: index of the label to index of the fact.

    Facts that share evidence with the label are preferred, so that a value which was said twice
    is matched where it was said.
    """
    edges = [_fitting(gold, learned) for gold in golds]
    owner: dict[int, int] = {}
    for number in range(len(golds)):
        _augment(number, edges, owner, set())
    return {number: index for index, number in owner.items()}


def _fitting(gold: Gold, learned: Sequence[Learned]) -> list[int]:
    """Return the facts that the label may be matched with, those that share evidence first."""
    fitting = [index for index, fact in enumerate(learned) if same(gold, fact)]
    evidence = set(gold.evidence)
    return sorted(fitting, key=lambda index: -len(evidence.intersection(learned[index].evidence)))


def _augment(number: int, edges: list[list[int]], owner: dict[int, int], seen: set[int]) -> bool:
    """Give the label a fact, moving others to their next where that is needed."""
    for index in edges[number]:
        if index in seen:
            continue
        seen.add(index)
        if index not in owner or _augment(owner[index], edges, owner, seen):
            owner[index] = number
            return True
    return False


def _is_free(gold: Gold) -> bool:
    return gold.attribute in SENTENCES or len(tokens(gold.value)) >= LONG


def _name(attribute: str) -> str:
    return attribute.casefold().replace(" ", "_").replace("-", "_").replace("favorite", "favourite")
