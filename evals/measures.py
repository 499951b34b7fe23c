"""Every measure of long-term memory as counts of one case, which add up over cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from evals.intervals import Share
from evals.labelled import Case, Gold, slot
from evals.matching import ENOUGH, Learned, matched, same, same_slot, same_value
from evals.normal import normal, token_f1, tokens

Counts: TypeAlias = Mapping[str, Share]


@dataclass(frozen=True)
class Judged:
    """The facts that were promoted from a case, beside its labels."""

    case: Case
    learned: Sequence[Learned]

    @cached_property
    def golds(self) -> list[Gold]:
        """Labelled facts in the order of validity, without retractions."""
        return [gold for gold in self.case.facts if gold.op != "retract"]

    @cached_property
    def pairs(self) -> dict[int, int]:
        """The matching: index in `golds` to index in `learned`.

        Facts that must be found come first; those that may be take what is left.
        """
        order = sorted(range(len(self.golds)), key=lambda number: self.golds[number].optional)
        found = matched([self.golds[number] for number in order], self.learned)
        return {order[place]: index for place, index in found.items()}

    def is_heard(self, number: int) -> bool:
        """Whether a label was matched by a fact that cites where it was said first."""
        index = self.pairs.get(number)
        return index is not None and self.golds[number].evidence[0] in self.learned[index].evidence

    @cached_property
    def counted(self) -> list[int]:
        """Indices of promoted facts that count: those which only may be found do not."""
        spare = {index for number, index in self.pairs.items() if self.golds[number].optional}
        return [index for index in range(len(self.learned)) if index not in spare]


def counts(case: Case, learned: Sequence[Learned]) -> Counts:
    """Return every measure of the case: hits and total by the measure's name."""
    judged = Judged(case, learned)
    return {
        **_extraction(judged),
        **_sources(judged),
        **_traps(judged),
        **_updates(judged),
        **_as_of(judged),
        **_state(judged),
    }


def added(every: Iterable[Counts]) -> dict[str, Share]:
    """Return the counts of many cases together."""
    total: dict[str, Share] = defaultdict(lambda: Share(0, 0))
    for each in every:
        for name, share in each.items():
            total[name] = total[name].plus(share)
    return dict(total)


def _extraction(judged: Judged) -> Counts:
    """Precision over what was promoted, recall over what was labelled, together and by kind."""
    found = judged.pairs
    hit = set(found.values())
    needed = [number for number, gold in enumerate(judged.golds) if not gold.optional]
    kinds = {judged.golds[number].kind for number in needed}
    kinds |= {judged.learned[index].kind for index in judged.counted}
    result = {
        "precision": _share(index in hit for index in judged.counted),
        "recall": _share(number in found for number in needed),
    }
    for kind in sorted(kinds):
        of_kind = [index for index in judged.counted if judged.learned[index].kind == kind]
        wanted = [number for number in needed if judged.golds[number].kind == kind]
        result[f"precision {kind}"] = _share(index in hit for index in of_kind)
        result[f"recall {kind}"] = _share(number in found for number in wanted)
    return result


def _sources(judged: Judged) -> Counts:
    """Whether quotes are verbatim, and whether a fact cites what it was said in."""
    events = judged.case.events
    grounded = _share(
        any(key in events and fact.quote in events[key].text for key in fact.evidence)
        for fact in judged.learned
    )
    cited = _share(
        not set(judged.golds[number].evidence).isdisjoint(judged.learned[index].evidence)
        for number, index in judged.pairs.items()
        if not judged.golds[number].optional
    )
    return {"grounding": grounded, "provenance": cited}


def _traps(judged: Judged) -> Counts:
    """What was learned from noise, from the scratchpad, and of the planted false memories.

    A fact that matches a label is true, whatever words it shares with a trap.
    """
    case = judged.case
    false = [fact for fact in judged.learned if not any(same(gold, fact) for gold in case.facts)]
    noise = _share(
        bool(fact.evidence) and case.noise >= set(fact.evidence) for fact in judged.learned
    )
    scratch = _share(not case.scratch.isdisjoint(fact.evidence) for fact in judged.learned)
    resisted = _share(
        not any(trap.event_id in fact.evidence and _says(trap.value, fact.value) for fact in false)
        for trap in case.distractors
    )
    return {"noise": noise, "scratchpad": scratch, "false-memory resistance": resisted}


def _updates(judged: Judged) -> Counts:
    """Of every labelled change: the new value alone holds after it, or not, or it was missed."""
    correct = wrong = missed = 0
    for gold in judged.golds:
        if gold.op != "supersede" or gold.optional:
            continue
        there = [fact for fact in judged.learned if same_slot(gold, fact)]
        if not any(set(fact.evidence) & set(gold.evidence) for fact in there):
            missed += 1
            continue
        after = _holding(there, gold.valid_from)
        right = bool(after) and all(same_value(gold, fact.value) for fact in after)
        correct, wrong = correct + right, wrong + (not right)
    total = correct + wrong + missed
    return {
        "update correct": Share(correct, total),
        "update wrong": Share(wrong, total),
        "update missed": Share(missed, total),
    }


def _as_of(judged: Judged) -> Counts:
    """The value of a single-valued slot at three times: with its first, its last, and between.

    `as-of` counts slots whose values were all learned where they were said first: whether time is
    kept, apart from whether a value was found. `as-of, all slots` counts every slot. A slot that
    may hold something or not is left out.
    """
    slots: dict[tuple[str, str], list[int]] = defaultdict(list)
    unsure = {(gold.entity, gold.attribute) for gold in judged.golds if gold.optional}
    for number, gold in enumerate(judged.golds):
        if gold.cardinality == "single" and (gold.entity, gold.attribute) not in unsure:
            slots[gold.entity, gold.attribute].append(number)
    learned, every = Share(0, 0), Share(0, 0)
    for numbers in slots.values():
        golds = [judged.golds[number] for number in numbers]
        times = (golds[0].valid_from, golds[len(golds) // 2].valid_from, _END)
        share = _share(_right_at(judged, golds, time) for time in times)
        every = every.plus(share)
        if all(judged.is_heard(number) for number in numbers):
            learned = learned.plus(share)
    return {"as-of": learned, "as-of, all slots": every}


def _right_at(judged: Judged, golds: Sequence[Gold], time: str) -> bool:
    """Whether the facts show at this time what the labels say."""
    entity, attribute = golds[0].entity, golds[0].attribute
    holding: Gold | None = None
    for gold in judged.case.facts:
        if (gold.entity, gold.attribute) == (entity, attribute) and gold.valid_from <= time:
            holding = None if gold.op == "retract" else gold
    if any(
        gold.op == "retract" and (gold.entity, gold.attribute) == (entity, attribute)
        for gold in judged.case.facts
    ):
        time = _END  # what was retracted is hidden from the past as well: only the end is asked
        holding = _last(judged.case, entity, attribute)
    shown = _holding([fact for fact in judged.learned if same_slot(golds[0], fact)], time)
    if holding is None:
        return not shown
    return bool(shown) and all(same_value(holding, fact.value) for fact in shown)


def _last(case: Case, entity: str, attribute: str) -> Gold | None:
    """Return the label that holds in the end."""
    if not case.final_state.get(slot(entity, attribute)):
        return None
    every = [gold for gold in case.facts if (gold.entity, gold.attribute) == (entity, attribute)]
    return next((gold for gold in reversed(every) if gold.op != "retract"), None)


def _state(judged: Judged) -> Counts:
    """What is active in the end that should not be, or is closed that should not be, or twice."""
    case = judged.case
    active = [fact for fact in judged.learned if fact.active]
    holding = _still_true(case)
    still = [
        judged.learned[index].active
        for number, index in judged.pairs.items()
        if judged.golds[number] in holding
    ]
    distinct = {
        (fact.entity, fact.attribute, "" if fact.cardinality == "single" else normal(fact.value))
        for fact in active
    }
    return {
        "stale-active": _share(_contradicted(case, fact) for fact in active),
        "over-invalidation": _share(not each for each in still),
        "redundancy": Share(len(active) - len(distinct), len(active)),
    }


def _still_true(case: Case) -> list[Gold]:
    """Return the labels that hold in the end: a value that came back holds since it came back."""
    holding: dict[tuple[str, str], list[Gold]] = defaultdict(list)
    for gold in case.facts:
        there = holding[gold.entity, gold.attribute]
        if gold.op == "retract":
            there[:] = [each for each in there if gold.value not in (None, each.value)]
        else:  # what may be kept may close what was there
            before = there if gold.cardinality == "multiple" else []
            there[:] = before if gold.optional else [*before, gold]
    return [gold for each in holding.values() for gold in each]


def _holds(case: Case, gold: Gold) -> bool:
    return gold.value in case.final_state.get(slot(gold.entity, gold.attribute), ())


def _contradicted(case: Case, fact: Learned) -> bool:
    """Whether the labels say that this once held, or that its slot holds something else."""
    if any(gold.optional and same(gold, fact) for gold in case.facts):
        return False
    of_slot = [gold for gold in case.facts if same_slot(gold, fact) and not gold.optional]
    if not of_slot:
        gone = [gold for gold in case.facts if gold.op != "retract" and same(gold, fact)]
        return any(not _holds(case, gold) and not gold.optional for gold in gone)
    if any(
        gold.op != "retract" and same_value(gold, fact.value) and _holds(case, gold)
        for gold in of_slot
    ):
        return False
    single = of_slot[0].cardinality == "single"
    return single or any(same_value(gold, fact.value) for gold in of_slot)


_END = "9999-12-31T23:59:59Z"


def _holding(facts: Iterable[Learned], time: str) -> list[Learned]:
    """Return the facts that are shown for a time."""
    return [
        fact
        for fact in facts
        if not fact.hidden
        and fact.valid_from <= time
        and (fact.valid_to is None or time < fact.valid_to)
    ]


def _says(trap: str, value: object) -> bool:
    """Whether a learned value carries the planted one."""
    words, said = tokens(trap), tokens(value)
    inside = any(said[at : at + len(words)] == words for at in range(len(said) - len(words) + 1))
    return inside or normal(trap) == normal(value) or token_f1(trap, value) >= ENOUGH


def _share(each: Iterable[bool]) -> Share:
    every = list(each)
    return Share(sum(every), len(every))
