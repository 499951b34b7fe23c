"""Which facts hold after promotion: what candidates lead to by the rules of `memory.facts`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from agentjournal.memory import facts
from agentjournal.memory.candidates import Candidate
from agentjournal.memory.extracting import EXTRACTOR
from agentjournal.memory.fact_events import fact_id_of, value_key, version_order
from agentjournal.memory.wanting import in_their_order
from evals.matching import Learned


def held(candidates: Sequence[Candidate], *, as_of: datetime | None = None) -> list[Learned]:
    """Return the facts that candidates lead to, whatever order they come in.

    What a better source outranks holds at no time, and is none. Those that hold at `as_of` are
    active: without it, those that hold after all that was said.
    """
    about: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for each in in_their_order(candidates):
        about[each.entity.kind, each.entity.id].append(each)
    last = max((at(each.statement.at) for each in candidates), default=datetime.now(UTC))
    return [
        fact
        for key in sorted(about)
        for fact in _of_entity(":".join(key), about[key], as_of or last)
    ]


def at(time: str) -> datetime:
    """Return a time of the log; one without a zone, or a day, is taken as UTC."""
    read = datetime.fromisoformat(time)
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read


def _of_entity(entity: str, candidates: Sequence[Candidate], as_of: datetime) -> list[Learned]:
    named: dict[str, Candidate] = {}
    for each in candidates:
        if not each.retracts:
            named.setdefault(_id(each), each)
    said = facts.Said(
        [_learned(key, version, each) for version, (key, each) in enumerate(sorted(named.items()))],
        [_retracted(each) for each in candidates if each.retracts],
    )
    holding = (fact for fact in facts.facts_of(said) if fact.ended_by != "outranked")
    return [_shown(entity, fact, named, as_of) for fact in holding]


def _id(each: Candidate) -> str:
    said = each.statement
    return fact_id_of(each.entity, said.session_id, said.event_id, each.attribute, each.value)


def _learned(key: str, version: int, each: Candidate) -> facts.Learned:
    said_at = at(each.statement.at)
    return facts.Learned(
        fact_id=key,
        version=version,
        attribute=each.attribute,
        value_key=value_key(each.value),
        cardinality=each.cardinality,
        author_role=each.statement.role,
        confidence=each.confidence,
        said_at=said_at,
        session_id=each.statement.session_id,
        said_version=each.statement.version,
        valid_from=at(each.valid_from),
        valid_to=at(each.valid_to) if each.valid_to else None,
        extractor=EXTRACTOR.name,
        extractor_order=version_order(EXTRACTOR.version),
        recorded_at=said_at,
    )


def _retracted(each: Candidate) -> facts.Retracted:
    said_at = at(each.statement.at)
    key = None if each.value is None else value_key(each.value)
    return facts.Retracted("", each.attribute, key, said_at, said_at)


def _shown(
    entity: str, fact: facts.Held, named: Mapping[str, Candidate], as_of: datetime
) -> Learned:
    first = named[fact.said[0].fact_id]
    return Learned(
        entity=entity,
        kind=first.kind,
        attribute=first.attribute,
        value=first.value,
        quote=first.quote,
        evidence=tuple(dict.fromkeys(_evidence(named[each.fact_id] for each in fact.said))),
        valid_from=instant(fact.valid_from),
        valid_to=instant(fact.valid_to) if fact.valid_to else None,
        active=fact.holds(as_of),
        hidden=fact.ended_by == "retracted",
        cardinality=first.cardinality,
    )


def instant(time: datetime) -> str:
    """Return a time in the one form in which text sorts like time."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _evidence(candidates: Iterable[Candidate]) -> Iterable[str]:
    for each in candidates:
        yield each.statement.event_id
        yield from (other.event_id for other in each.others)
