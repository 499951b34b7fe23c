"""Which facts hold: order within a slot decides, as the projection of facts has it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from agentjournal.memory.candidates import Candidate
from agentjournal.memory.values import normal_form
from evals.matching import Learned

RANK = {"user": 0, "tool": 1}  # the rest stand below


@dataclass(slots=True)
class _Slot:
    """The facts of a slot so far, in their order."""

    facts: list[Learned] = field(default_factory=list[Learned])
    ranks: list[int] = field(default_factory=list[int])


def held(candidates: Iterable[Candidate]) -> list[Learned]:
    """Return the facts that candidates lead to, whatever order they come in."""
    slots: dict[tuple[str, str], _Slot] = defaultdict(_Slot)
    for candidate in sorted(set_of(candidates), key=order):
        entity = f"{candidate.entity.kind}:{candidate.entity.id}"
        slot = slots[entity, candidate.attribute]
        if candidate.retracts:
            _retract(slot, candidate)
        else:
            _learn(slot, entity, candidate)
    return [fact for _, slot in sorted(slots.items()) for fact in slot.facts]


def set_of(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return every candidate once: a delivery that is repeated says nothing new."""
    return list(
        {
            (*order(each), each.attribute, each.entity.id, each.retracts): each
            for each in candidates
        }.values()
    )


def order(candidate: Candidate) -> tuple[str, str, int, str]:
    """Return where a candidate stands in its slot: time of the statement, session, version."""
    said = candidate.statement
    return (
        instant(candidate.valid_from),
        said.session_id,
        said.version,
        normal_form(candidate.value),
    )


def instant(time: str) -> str:
    """Return a time in the one form in which text sorts like time."""
    at = datetime.fromisoformat(time)
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _learn(slot: _Slot, entity: str, candidate: Candidate) -> None:
    evidence = tuple(each.event_id for each in (candidate.statement, *candidate.others))
    rank = RANK.get(candidate.statement.role, 2)
    form = normal_form(candidate.value)
    for index, fact in enumerate(slot.facts):
        if fact.active and normal_form(fact.value) == form:
            merged = (*fact.evidence, *(each for each in evidence if each not in fact.evidence))
            slot.facts[index] = replace(fact, evidence=merged)
            slot.ranks[index] = min(rank, slot.ranks[index])
            return
    since = instant(candidate.valid_from)
    until = instant(candidate.valid_to) if candidate.valid_to else None
    if candidate.cardinality == "single":
        for index, fact in enumerate(slot.facts):
            if not fact.active:
                continue
            if slot.ranks[index] < rank:
                until = since  # who said the other one is believed before
            else:
                slot.facts[index] = replace(fact, active=False, valid_to=since)
    slot.ranks.append(rank)
    slot.facts.append(
        Learned(
            entity=entity,
            kind=candidate.kind,
            attribute=candidate.attribute,
            value=candidate.value,
            quote=candidate.quote,
            evidence=evidence,
            valid_from=since,
            valid_to=until,
            active=until is None,
            cardinality=candidate.cardinality,
        )
    )


def _retract(slot: _Slot, candidate: Candidate) -> None:
    form = normal_form(candidate.value)
    since = instant(candidate.valid_from)
    for index, fact in enumerate(slot.facts):
        if candidate.value is None or normal_form(fact.value) == form:
            until = fact.valid_to or since
            slot.facts[index] = replace(fact, active=False, hidden=True, valid_to=until)
