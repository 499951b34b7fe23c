"""Plain methods to keep facts, which promotion has to be better than, and the ceiling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agentjournal.memory.candidates import Candidate
from evals.holding import held
from evals.labelled import Case, Gold, Happened
from evals.matching import Learned
from evals.promoting import Extractor
from evals.searching import Embed, dot, unit

ALIKE = 0.90  # cosine from which two facts are taken for one


def nothing(_case: Case) -> list[Learned]:
    """Keep nothing."""
    return []


def everything(case: Case) -> list[Learned]:
    """Keep every message, whoever wrote it, and every result of a tool as a fact about the user."""
    entity = _first_entity(case)
    return [
        Learned(
            entity=entity,
            kind="text",
            attribute="free_text",
            value=text,
            quote=text,
            evidence=(event.event_id,),
            valid_from=event.at,
            cardinality="multiple",
        )
        for event in case.events.values()
        if (text := said_in(event))
    ]


def append_only(extractor: Extractor, case: Case) -> list[Learned]:
    """Keep what the extractor finds, and never close anything."""
    return [
        replace(fact, active=True, hidden=False, valid_to=None)
        for candidate in candidates_of(extractor, case)
        if not candidate.retracts
        for fact in held([candidate])
    ]


def alike(extractor: Extractor, case: Case, embed: Embed) -> list[Learned]:
    """Let a newer fact replace every older one whose text looks alike, whatever its slot."""
    kept: list[Learned] = []
    vectors: list[Sequence[float]] = []
    for fact in sorted(append_only(extractor, case), key=lambda fact: fact.valid_from):
        (vector,) = map(unit, embed([f"{fact.attribute}: {fact.value}"]))
        for index, older in enumerate(kept):
            if older.active and dot(vectors[index], vector) >= ALIKE:
                kept[index] = replace(older, active=False, valid_to=fact.valid_from)
        kept.append(fact)
        vectors.append(vector)
    return kept


def ceiling(case: Case) -> list[Learned]:
    """Keep the labelled facts: what no extractor can do better than, by the same rules."""
    ends: dict[int, str] = {}
    hidden: set[int] = set()
    facts = [gold for gold in case.facts if not gold.optional]
    for later, gold in enumerate(facts):
        for earlier in range(later):
            if earlier not in ends and _closes(gold, facts[earlier]):
                ends[earlier] = gold.valid_from
                hidden |= {earlier} if gold.op == "retract" else set()
    return [
        Learned(
            entity=gold.entity,
            kind=gold.kind,
            attribute=gold.attribute,
            value=gold.value,
            quote=gold.quote,
            evidence=gold.evidence,
            valid_from=gold.valid_from,
            valid_to=ends.get(index),
            active=index not in ends,
            hidden=index in hidden,
            cardinality=gold.cardinality,
        )
        for index, gold in enumerate(facts)
        if gold.op != "retract"
    ]


def candidates_of(extractor: Extractor, case: Case) -> list[Candidate]:
    """Return what the extractor proposes of a case, in the order of its sessions."""
    return [each for session in case.sessions for each in extractor.read(session)[0].candidates]


def said_in(event: Happened) -> str:
    """Return what a message or the result of a tool says."""
    fields: Any = event.data
    if event.type == "message.added":
        return " ".join(part["text"] for part in fields["parts"] if part["type"] == "text")
    return str(fields["output"]) if event.type == "tool.completed" else ""


def _closes(newer: Gold, older: Gold) -> bool:
    if (newer.entity, newer.attribute) != (older.entity, older.attribute):
        return False
    if newer.op == "retract":
        return newer.value in (None, older.value)
    return newer.cardinality == "single"


def _first_entity(case: Case) -> str:
    kind, name = case.sessions[0].entities[0]
    return f"{kind}:{name}"
